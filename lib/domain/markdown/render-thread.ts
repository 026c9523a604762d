/** What the thread of `render.ts` runs. */
import { serveTasks } from '../../threads/serve-tasks.ts';
import { toHtml } from './html.ts';
import type { RenderTask } from './render.ts';

serveTasks(({ text, options }: RenderTask) => toHtml(text, options));
