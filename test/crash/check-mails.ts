import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { ISSUE } from '../../lib/store/row-keys/issues.ts';
import { MAIL_DIR } from '../../local/host.ts';
import type { Rows } from './rows.ts';

/** Mails that the worker sends at the same time: the messages of one batch. */
const SENT_AT_ONCE = 10;

/** Texts that writers give to comments on commits, notes on issues, and descriptions of issues. */
const TOLD = /(?:comment|remark|work)-of-\d+-\d+/;

/**
 * Each comment, note on an issue and issue that is stored was mailed to the address, and no mail is of another. A mail is sent again only when the host died
 * between sending it and noting that, and then under the same id, by which programs know it.
 *
 * @param ends how often the host was killed or stopped
 */
export async function mailProblems(
  dataDir: string,
  rows: Rows,
  address: string,
  ends: number,
): Promise<string[]> {
  const problems: string[] = [];
  const folder = join(dataDir, MAIL_DIR);
  const files = readdirSync(folder).filter((name) => name.endsWith('.eml') && name.includes(address));
  const ids = new Map<string, (string | undefined)[]>();
  for (const file of files) {
    const { text, messageId } = await PostalMime.parse(readFileSync(join(folder, file)));
    const [comment] = TOLD.exec(text ?? '') ?? [];
    if (comment !== undefined) ids.set(comment, [...(ids.get(comment) ?? []), messageId]);
  }
  const texts = [
    ...rows.of('NOTES#').map(({ body }) => String(body)),
    ...rows
      .of('ISSUES#')
      .flatMap(({ sk, description }) => (sk.startsWith(ISSUE) ? [String(description)] : [])),
  ];
  const stored = new Set(texts.filter((text) => TOLD.test(text)));
  for (const text of stored) if (!ids.has(text)) problems.push(`${text} was not mailed`);
  let again = 0;
  for (const [comment, sent] of ids) {
    if (!stored.has(comment)) problems.push(`${comment} was mailed and is not there`);
    if (new Set(sent).size > 1) problems.push(`${comment} was mailed as ${sent.join(', ')}`);
    again += sent.length - 1;
  }
  if (again > ends * SENT_AT_ONCE)
    problems.push(`${again} mails were sent again after ${ends} ends of the host`);
  return problems;
}
