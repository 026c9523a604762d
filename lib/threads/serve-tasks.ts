/** The other side of `task-thread.ts`. */
import { parentPort } from 'node:worker_threads';

/** Answers each message of the thread's owner. The first answer, undefined, says that the thread is ready. */
export function serveTasks<T, R>(answer: (task: T) => R | Promise<R>): void {
  parentPort!.on('message', async (task: T) => parentPort!.postMessage(await answer(task)));
  parentPort!.postMessage(undefined);
}
