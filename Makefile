# The few commands people type; Meson does the work (build/meson), `make` lays it out as installed (build/stage).
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
MESON_FLAGS ?=
SUITES ?=

all: $(BUILD)/deadheat

packages:
	@tools/install-packages

$(BUILD)/meson/build.ninja: | packages
	@meson setup $(BUILD)/meson --prefix=/ --libdir=lib $(MESON_FLAGS) >$(BUILD).setup.log 2>&1 || { cat $(BUILD).setup.log; exit 1; }
	@mkdir -p $(BUILD) && mv $(BUILD).setup.log $(BUILD)/setup.log

$(BUILD)/deadheat: $(BUILD)/meson/build.ninja FORCE
	@ninja -C $(BUILD)/meson --quiet
	@DESTDIR=$(abspath $(BUILD)/stage) meson install -C $(BUILD)/meson --only-changed --quiet
	@ln -sfn stage/bin/deadheat $(BUILD)/deadheat

install: all
	@mkdir -p $(DESTDIR)$(PREFIX)
	@cp -a $(BUILD)/stage/. $(DESTDIR)$(PREFIX)/

check: all
	@tests/run $(BUILD) --quick $(SUITES)

check-long: all
	@tests/run $(BUILD) --long $(SUITES)

demo: all
	@examples/demo $(BUILD)

fuzz: all
	@tests/fuzz/run $(BUILD)

bench-detect: all
	@bench/detect $(BUILD)

bench-sparse: all
	@bench/sparse $(BUILD)

bench-speed: all
	@bench/speed $(BUILD)

bench-speed-full: all
	@bench/speed $(BUILD) --full

bench-prove: all
	@bench/prove $(BUILD)

bench-static: all
	@bench/static $(BUILD)
	@bench/static-tables $(BUILD)
	@bench/sparse-tables $(BUILD)
	@bench/special $(BUILD)
	@bench/sparse $(BUILD)

bench-papers: all
	@bench/papers $(BUILD)

bench-heal: all
	@bench/heal $(BUILD)

bench-check: all
	@bench/check $(BUILD)

bench-budget: all
	@bench/budget $(BUILD)

bench-real: all
	@bench/real $(BUILD)

bench-real-chain: all
	@bench/real-chain $(BUILD)

bench-classify: all
	@bench/classify $(BUILD)

bench-classify-cost: all
	@bench/classify_cost $(BUILD)

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all packages install check check-long demo fuzz bench-detect bench-speed bench-speed-full bench-papers bench-prove bench-heal bench-real bench-real-chain bench-static bench-sparse bench-check bench-budget bench-classify bench-classify-cost clean FORCE
