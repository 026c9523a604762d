import type { HtmlOptions } from '../../domain/markdown/html.ts';

/** Characters of a description that are rendered without a thread. */
const MAX_RENDERED = 4096;
/** Stands for the thread, which is not there: what would take long stays as it was written. */
const AT_ONCE = { run: async () => undefined };

/**
 * The HTML of a label's description, one line of Markdown. It is made when the description is written: functions that show
 * labels have no renderer.
 * @returns null where the description, escaped, is its HTML
 */
export async function htmlOfDescription(
  description: string | null | undefined,
  baseUrl: string,
): Promise<string | null> {
  const text = description?.trim() ?? '';
  if (text.length > MAX_RENDERED || !MARKUP.test(text)) return null;
  const { rendered } = await import('../../domain/markdown/render.ts');
  const options: HtmlOptions = { baseUrl, inline: true };
  return rendered(text, options, AT_ONCE);
}

/** Characters without which nothing in one line is more than text. */
const MARKUP = /[*_`~[\]<>&:\\]|www\./;
