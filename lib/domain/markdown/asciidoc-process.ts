/** What the processes of `asciidoc.ts` run. */
import { convert, LoggerManager, NullLogger } from '@asciidoctor/core';
import type { AsciidocTask } from './asciidoc.ts';
import { sanitized } from './sanitize.ts';

/** Characters of HTML, before it is sanitized: more than ten times the largest text. */
const MAX_HTML = 4 * 2 ** 20;

/** `secure` reads no file and includes nothing; attributes of the text cannot change what is set here. */
const SETTINGS = {
  safe: 'secure',
  standalone: false,
  attributes: { showtitle: '', sectanchors: null, experimental: null, 'source-highlighter': null },
} as const;

LoggerManager.logger = new NullLogger();

process.once('message', async ({ text, options }: AsciidocTask) => {
  const html = await convert(text, SETTINGS);
  const tooLong = typeof html !== 'string' || html.length > MAX_HTML;
  process.send!(tooLong ? null : sanitized(html, options));
});
