"""Nothing random or timed may be frozen in an image.

At build time each generator that any imported module holds is found; at the start of each call
all of them are seeded afresh from the system, and clocks that modules read at import are reset.
"""

import gc
import logging
import os
import random
import sys
import time

_seeded = []  # functions that reseed one generator each


def collect():
    """Finds the generators in memory. Called last at build time."""
    for instance in gc.get_objects():
        if isinstance(instance, random.Random) and not isinstance(instance, random.SystemRandom):
            _seeded.append(instance.seed)
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    kinds = (numpy.random.RandomState, numpy.random.Generator)
    done = set()
    for instance in [*gc.get_objects(), numpy.random.mtrand._rand]:
        if isinstance(instance, kinds):
            generator = instance._bit_generator if hasattr(instance, "_bit_generator") else instance.bit_generator
            if id(generator) not in done:
                done.add(id(generator))
                _seeded.append(_reseed(numpy, generator))


def _reseed(numpy, generator):
    kind = type(generator)
    legacy = isinstance(generator, numpy.random.MT19937)

    def reseed():
        if legacy:
            generator._legacy_seeding(None)  # from the system
        else:
            generator.state = kind().state

    return reseed


def refresh():
    """Seeds everything anew. Called at the start of each call."""
    for seed in _seeded:
        seed()
    logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
    module = sys.modules.get("tempfile")
    if module is not None:
        module._name_sequence = None
    module = sys.modules.get("uuid")
    if module is not None:
        module._node = None
        module._last_timestamp = None
        if hasattr(module, "_last_timestamp_v7"):
            module._last_timestamp_v7 = None
            module._last_counter_v7 = 0
    module = sys.modules.get("multiprocessing.process")
    if module is not None:
        module._current_process._config["authkey"] = module.AuthenticationString(os.urandom(32))
