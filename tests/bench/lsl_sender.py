"""Sends noise with a rhythm of 10 Hz as a Lab Streaming Layer stream (needs pylsl and numpy).

    python tests/bench/lsl_sender.py --name amp --channels 64 --rate 1000 --seconds 60
    atomscope stream TRAINED.ron --source lsl:amp --idle 5 --record DIR

It waits until somebody listens and says at the end how many samples were sent. `--nan-at` sends two seconds of values
that are no numbers, `--jump-at` sets the clock of the samples back by 100 s.
"""

import argparse
import time

import numpy as np
import pylsl


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="amp")
    parser.add_argument("--source-id", default="amp-1")
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--labels", help="names of the channels, separated by commas")
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--nan-at", type=float, default=np.inf)
    parser.add_argument("--jump-at", type=float, default=np.inf)
    return parser.parse_args()


def outlet(wanted):
    names = wanted.labels.split(",") if wanted.labels else [f"E{n + 1}" for n in range(wanted.channels)]
    info = pylsl.StreamInfo(wanted.name, "EEG", len(names), wanted.rate, "float32", wanted.source_id)
    channels = info.desc().append_child("channels")
    for name in names:
        channel = channels.append_child("channel")
        channel.append_child_value("label", name)
        channel.append_child_value("unit", "microvolts")
    return pylsl.StreamOutlet(info, 0, 360), len(names)


def main():
    wanted = arguments()
    out, n_channels = outlet(wanted)
    while not out.have_consumers():
        time.sleep(0.02)
    time.sleep(1.0)
    random = np.random.default_rng(0)
    begun, n_sent, n_planned = pylsl.local_clock(), 0, int(wanted.rate * wanted.seconds)
    while n_sent < n_planned:
        n_due = min(n_planned, int((pylsl.local_clock() - begun) * wanted.rate)) - n_sent
        if n_due < min(wanted.rate * 0.008, n_planned - n_sent):
            time.sleep(0.002)
            continue
        times = (n_sent + np.arange(n_due)) / wanted.rate
        values = 20 * np.sin(2 * np.pi * 10 * times)[:, None] + random.normal(0, 10, (n_due, n_channels))
        values[(times >= wanted.nan_at) & (times < wanted.nan_at + 2)] = np.nan
        last = begun + (n_sent + n_due) / wanted.rate - 100 * float(times[0] >= wanted.jump_at)
        out.push_chunk(values.astype(np.float32).tolist(), last)
        n_sent += n_due
    time.sleep(1.0)
    print(n_sent, "samples sent")


main()
