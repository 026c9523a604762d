/** A program with an unmodified client of Sentry: it fails twice and says something. Its argument is the address of a key. */
import * as Sentry from '@sentry/node';

function failing(): never {
  throw new RangeError('out of range');
}

function fail() {
  try {
    failing();
  } catch (error) {
    Sentry.captureException(error);
  }
}

Sentry.init({ dsn: process.argv[2]!, environment: 'tests', release: '1.2.3', tracesSampleRate: 1 });
fail();
// Of what follows upon the same, the client sends only the first.
Sentry.captureMessage('Hello from a program', 'warning');
fail();
Sentry.startSpan({ name: 'a transaction' }, () => {});
process.exitCode = (await Sentry.flush(10_000)) ? 0 : 1;
