#!/usr/bin/env python3
"""Runs TensorBoard's own writer and reader, to check the event files that Dragoman writes itself.

    pip install tensorboard
    tests/golden/make_tensorboard_golden.py           writes fixtures/tensorboard.events with TensorBoard's writer
    tests/golden/make_tensorboard_golden.py FOLDER    prints what TensorBoard reads from a folder of event files
"""
import pathlib
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

TEXT = "Je t'aime. — «été»"


def scalar(tag, value):
    return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, simple_value=value)])


def text(tag, value):
    size = tensor_shape_pb2.TensorShapeProto.Dim(size=1)
    tensor = tensor_pb2.TensorProto(
        dtype=types_pb2.DT_STRING,
        tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[size]),
        string_val=[value.encode()],
    )
    plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
    metadata = summary_pb2.SummaryMetadata(plugin_data=plugin)
    return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])


def write(path):
    start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
    events = [
        event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2"),
        event_pb2.Event(wall_time=1700000000.5, step=1001, session_log=start),
        event_pb2.Event(wall_time=1700000001.0, summary=scalar("train/loss", 9.5)),
        event_pb2.Event(wall_time=1700000002.0, step=1, summary=scalar("train/loss", 0.0)),
        event_pb2.Event(wall_time=1700000003.0, step=5_000_000_000, summary=scalar("train/loss", float("nan"))),
        event_pb2.Event(wall_time=1700000004.0, step=300, summary=scalar("valid/" + "long" * 40, -1.0e-30)),
        event_pb2.Event(wall_time=1700000005.0, step=300, summary=text("sample/1", TEXT)),
    ]
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in events:
            writer.write(event.SerializeToString())


def show(folder):
    events = event_accumulator.EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    for tag in events.Tags()["scalars"]:
        print(tag, [(event.step, event.value) for event in events.Scalars(tag)])
    for tag in events.Tags()["tensors"]:
        print(tag, [(event.step, event.tensor_proto.string_val[0].decode()) for event in events.Tensors(tag)])
        print(tag, "is for", events.SummaryMetadata(tag).plugin_data.plugin_name)


if len(sys.argv) > 1:
    show(sys.argv[1])
else:
    write(pathlib.Path(__file__).resolve().parent / "fixtures" / "tensorboard.events")
