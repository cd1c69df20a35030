"""Audit: find lost committed records in the log files and the data directories of brokers.

The files of this package, in the order of their use:

* audit.py: the request, and the result of all partitions. errors.py: wrong input.
* one_process.py, on_spark.py and host.py: the runners (this process, Spark, a broker's host). All runners apply the
  same rules and return the same result. tasks.py has the tasks of a Spark worker, and tables.py the schemas. packing.py
  builds audit.pyz for the host.
* attribution.py: the broker that wrote each line. gaps.py: the reasons why the audit may have missed a loss.
* summary.py and sentences.py: the result in words. view.py and templates/: the terminal and the HTML page.

lines/ reads log files. sources.py finds the files. reading.py finds the lines that matter, after cleaning.py and
unwrapping.py have undone the changes of terminals, e-mails and collectors. line.py finds Kafka's messages in a line
with matching.py and wordings.py, also inside JSON (envelopes.py). times.py reads the time of a line, and origins.py the
names of containers and hosts around it. blocks.py reads the other fields of an indented document. layouts.py splits
lines by the patterns of --layout. events.py defines the event of a line, and facts.py the facts of a file. The package
unpacking/ unpacks archives and compressed files.

disks/ reads data directories. found.py finds them and their replicas, files.py opens files. segments.py,
checkpoints.py, metadata_log.py, commits.py with records.py, and dumped.py each read one kind of file, and
segments_on_spark.py reads segments on Spark. replicas.py puts the files of a replica together. comparing.py and
divergence.py compare the replicas of a partition. disk_audit.py runs the whole audit of disks, and joined.py joins its
result with the result for logs.

judgement/ checks a partition. history.py orders its events, and rules.py and truncations.py find losses. findings.py
defines the findings, and making.py creates them. told_case.py turns a finding into a case.
"""
