"""Audit: find lost committed records in the logs and on the disks of brokers.

The files of this package, in the order of their use:

* audit.py: the request, and the result of all partitions. errors.py: wrong input.
* one_process.py, on_spark.py and host.py: the runners (this process, Spark, a broker's host). All have the same rules
  and the same result. tasks.py has the tasks of a Spark worker, and tables.py the schemas. packing.py builds audit.pyz
  for the host.
* attribution.py: the broker of each line. gaps.py: the reasons why the audit may have missed a loss.
* summary.py and sentences.py: the result in words. view.py and templates/: the terminal and the HTML page.

lines/ reads logs. sources.py finds the files, and unpacking.py unpacks them. reading.py finds the lines that matter,
after cleaning.py and unwrapping.py have undone the changes of terminals, e-mails and collectors. line.py finds Kafka's
messages in a line with matching.py and wordings.py, also inside JSON (envelopes.py), and times.py reads the time.
origins.py finds the names around a line, and blocks.py the other fields of an indented document. layouts.py has the
layouts of --layout. events.py has the event of a line, and facts.py the facts of a file.

disks/ reads data directories. found.py finds them and their replicas, files.py opens files, and joined.py joins logs
and disks. segments.py, checkpoints.py, metadata_log.py, commits.py with records.py, and dumped.py each read one kind of
file, and segments_on_spark.py reads segments on Spark. replicas.py puts the files of a replica together. comparing.py
and divergence.py compare the replicas of a partition. disk_audit.py runs all of that.

judgement/ checks a partition. history.py orders its events, rules.py and truncations.py find losses, and making.py and
findings.py hold the findings. told_case.py writes the case of a finding.
"""
