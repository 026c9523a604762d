/** What the thread of `render.ts` runs. */
import { parentPort } from 'node:worker_threads';
import { type HtmlOptions, toHtml } from './html.ts';

parentPort!.on('message', ({ text, options }: { text: string; options: HtmlOptions }) => {
  parentPort!.postMessage(toHtml(text, options));
});
