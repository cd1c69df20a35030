"""Schemas of an audit on Spark: the tables in the audit's directory, and the rows that the audit passes to Spark.

PARTS, PLACES, ORIGINS and RANGES are only passed to Spark. docs/reference/audit-tables.md describes the columns.
"""

import pyarrow as pa

_EVENT = (
    pa.field("kind", pa.string()),
    pa.field("file", pa.string()),
    pa.field("line", pa.int64()),
    pa.field("time", pa.int64()),
    pa.field("text", pa.string()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("broker", pa.int32()),
    pa.field("topic_id", pa.string()),
    pa.field("leader_epoch", pa.int32()),
    pa.field("partition_epoch", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("end_offset", pa.int64()),
    pa.field("high_watermark", pa.int64()),
    pa.field("isr", pa.list_(pa.int32())),
    pa.field("leader", pa.int32()),
    pa.field("previous_leader", pa.int32()),
    pa.field("previous_epoch", pa.int32()),
    pa.field("origin", pa.string()),
    pa.field("doubtful", pa.bool_()),
)

# The request of the audit. A directory holds the results of one request.
REQUEST = pa.schema({"request": pa.string()})

# A part of a file for a worker to read, as JSON.
PARTS = pa.schema({"part": pa.string()})

# Events as workers read them. Lines are counted from the start of a part. The last row of a part holds its facts.
READ = pa.schema([*_EVENT, pa.field("part", pa.int64()), pa.field("facts", pa.string())])

EVENTS = pa.schema(_EVENT)

# For each part: the number of lines before it, the broker of lines that name none, and whether a line that ends with a
# number may have been cut.
PLACES = pa.schema(
    {"file": pa.string(), "part": pa.int64(), "before": pa.int64(), "whose": pa.int32(), "doubted": pa.bool_()}
)

# The broker of lines that name none, by file and origin. null if the lines of an origin may be of any broker.
ORIGINS = pa.schema({"file": pa.string(), "origin": pa.string(), "of_origin": pa.int32(), "is_known": pa.bool_()})

FINDINGS = pa.schema(
    {
        "what": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "first_offset": pa.int64(),
        "last_offset": pa.int64(),
        "leader_epoch": pa.int32(),
        "time": pa.int64(),
        "told": pa.string(),
        "evidence": pa.list_(pa.struct(_EVENT)),
        "around": pa.list_(pa.struct(_EVENT)),
        "passed": pa.bool_(),
    }
)

_BATCH = pa.struct(
    {
        "position": pa.int64(),
        "base": pa.int64(),
        "last": pa.int64(),
        "epoch": pa.int32(),
        "size": pa.int64(),
        "crc": pa.int64(),
        "attributes": pa.int32(),
        "time": pa.int64(),
        "producer": pa.int64(),
        "producer_epoch": pa.int32(),
        "sequence": pa.int32(),
        "records": pa.int32(),
    }
)

_PRODUCER_RUN = pa.struct(
    {
        "producer": pa.int64(),
        "epoch": pa.int32(),
        "first": pa.int64(),
        "following": pa.int64(),
        "position": pa.int64(),
        "offset": pa.int64(),
    }
)

# Files of segments in data directories. Each task reads one row of consecutive files.
RANGES = pa.schema({"files": pa.list_(pa.string())})

SEGMENTS = pa.schema(
    {
        "file": pa.string(),
        "base": pa.int64(),
        "size": pa.int64(),
        "runs": pa.list_(pa.struct({"epoch": pa.int32(), "first": _BATCH, "last": _BATCH, "batches": pa.int64()})),
        "holes": pa.int64(),
        "problem": pa.string(),
        "is_torn": pa.bool_(),
        "producers": pa.list_(_PRODUCER_RUN),
    }
)

JUDGED = pa.schema(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "findings": pa.list_(pa.struct(list(FINDINGS))),
        "unseen": pa.int64(),
        "silent": pa.list_(pa.int32()),
        "told_apart": pa.bool_(),
        "lacks_leader": pa.bool_(),
        "latest": pa.int64(),
        "undecided": pa.list_(pa.string()),
    }
)

# Written last of the tables of logs: an audit of logs is finished if its directory has this table.
OUTCOME = pa.schema({"partitions": pa.int64(), "findings": pa.int64(), "seconds": pa.float64()})
