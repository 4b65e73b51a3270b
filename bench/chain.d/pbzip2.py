"""pbzip2: a producer, consumers and a writer around two queues."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

DONE_SET = """	safe_mutex_lock(ProducerDoneMutex);
	producerDone = newValue;
	safe_mutex_unlock(ProducerDoneMutex);
"""
WRITTEN = """		safe_mutex_lock(OutMutex);

		if (outBlock->isLastInSequence)
		{
			++NextBlockToWrite;
			OutBufferPosToWrite = outBufferPos;
		}
"""
TAKE = """		safe_mutex_lock(fifo->mut);
		for (;;)
		{
			if (!fifo->empty && (fifo->remove(fileData) == 1))
			{
				// block retreived - break the loop and continue further
				break;
			}
			
			#ifdef PBZIP_DEBUG
			fprintf (stderr, "consumer: queue EMPTY.\\n");
			#endif
			
			if (fifo->empty && ((syncGetProducerDone() == 1)"""


class Pbzip2(Chained):
    package = "pbzip2"
    executables = ("pbzip2",)
    jobs = (Job("compress", ("pbzip2", "-p2", "-b1", "-1", "-k", "-c", "{data}"), 300),)
    plants = (
        Plant("producer-done", "lock", "pbzip2.cpp", DONE_SET, "	producerDone = newValue;\n", (Sight(UNORDERED, variables=("producerDone",)),)),
        Plant("next-block", "lock", "pbzip2.cpp", WRITTEN, WRITTEN.replace("		safe_mutex_lock(OutMutex);\n", "", 1)
              .replace("OutBufferPosToWrite = outBufferPos;\n		}\n", "OutBufferPosToWrite = outBufferPos;\n		}\n		safe_mutex_lock(OutMutex);\n"), (Sight(UNORDERED, variables=("NextBlockToWrite", "OutBufferPosToWrite")),)),
        Plant("done-before-lock", "check", "pbzip2.cpp", TAKE, TAKE.replace("		safe_mutex_lock", "		int done = syncGetProducerDone();\n		safe_mutex_lock", 1)
              .replace("syncGetProducerDone() == 1", "done == 1"),
              (Sight(STUCK, functions=("consumer",)),)),
    )

    def build(self, b):
        b.run("make", "all", env={"CXXFLAGS": "-O1 -g -Wno-reserved-user-defined-literal"})

    def rebuild(self, b):
        b.run("make", "clean")
        self.build(b)


PROGRAM = Pbzip2
