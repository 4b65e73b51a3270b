"""What the programs of the bench share: fetching, building, running, comparing, tables."""
