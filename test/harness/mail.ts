import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';

const PATIENCE_MS = 60_000;

/**
 * Waits until the embedded SES has sent this address so many mails.
 * @returns all of them, oldest first, as a mail client reads them
 */
export async function mailTo(directory: string, address: string, count = 1): Promise<Email[]> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const files = readdirSync(directory).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(
      files.sort().map((name) => PostalMime.parse(readFileSync(join(directory, name)))),
    );
    const theirs = mails.filter(({ to }) => to?.some((recipient) => recipient.address === address));
    if (theirs.length >= count) return theirs;
    if (Date.now() > until) throw new Error(`${theirs.length} of ${count} mails to ${address}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
