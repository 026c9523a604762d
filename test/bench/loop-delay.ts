/**
 * For `node --import` in a process that is measured: appends a line to the file `LOOP_DELAY_FILE` every quarter of a second,
 * the longest time in milliseconds for which the event loop of the main thread did not turn.
 */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;

const file = process.env['LOOP_DELAY_FILE'];
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${Math.round(delay.max / 1e6)}\n`);
    delay.reset();
  }, 250).unref();
}
