"""A program with an unmodified client of Sentry. The argument is the address of a key."""
import sys

import sentry_sdk


def failing():
    raise ValueError("no value")


sentry_sdk.init(dsn=sys.argv[1], environment="tests", traces_sample_rate=1.0)
for _ in range(2):
    try:
        failing()
    except ValueError as error:
        sentry_sdk.capture_exception(error)
sentry_sdk.flush(timeout=10)
