/** What the thread of `render.ts` runs. The first message, without a text, says that it is ready. */
import { parentPort } from 'node:worker_threads';
import { type HtmlOptions, toHtml } from './html.ts';

parentPort!.on('message', ({ text, options }: { text: string; options: HtmlOptions }) => {
  parentPort!.postMessage(toHtml(text, options));
});
parentPort!.postMessage(undefined);
