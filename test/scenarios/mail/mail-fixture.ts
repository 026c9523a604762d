import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { beforeAll, beforeEach } from 'vitest';
import { ownService } from '../../harness/own-service.ts';
import { settled } from '../../harness/settled.ts';

/** As many users as most files of mails have. */
export const EIGHT = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal'] as const;

/** A service with people who act in it, and what each of them is sent. Every test begins without mail. */
export function ownMail(names: readonly string[]) {
  const service = ownService();
  const people: Record<string, { id: number; username: string; token: string }> = {};
  let seen = new Set<string>();
  beforeAll(async () => {
    for (const name of names) people[name] = await service.user(name);
  });

  /** As one of the people, or as `root`. @returns the body @throws an error answer */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const call = async (who: string, method: string, path: string, json?: unknown): Promise<any> => {
    const token = who === 'root' ? service.rootToken : people[who]!.token;
    const { status, body } = await service.call(method, path, {
      token,
      ...(json === undefined ? {} : { json }),
    });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  /** @param at a project's or group's path in the interface; empty: for everything */
  const prefer = (who: string, at: string, json: object) =>
    call(who, 'PUT', `${at}/notification_settings`, json);

  /** Mail sent so far is not in {@link mails} any more. */
  const forget = (): void => {
    seen = new Set(readdirSync(service.mailDir));
  };
  beforeEach(async () => {
    await settled();
    forget();
  });

  /** The mails since then, by recipient: names, or addresses of other domains. */
  const mails = async (): Promise<Record<string, Email[]>> => {
    await settled();
    const found: Record<string, Email[]> = {};
    for (const file of readdirSync(service.mailDir).sort()) {
      if (seen.has(file) || !file.endsWith('.eml')) continue;
      const mail = await PostalMime.parse(readFileSync(join(service.mailDir, file)));
      const name = mail.to![0]!.address!.replace('@example.com', '');
      found[name] = [...(found[name] ?? []), mail];
    }
    return found;
  };
  return { service, people, call, prefer, forget, mails };
}

/** The reason that each mail gives, by recipient. */
export const reasons = (found: Readonly<Record<string, readonly Email[]>>) =>
  Object.fromEntries(
    Object.entries(found).map(([name, all]) => [
      name,
      all.map((mail) => header(mail, 'x-lemnos-notificationreason')),
    ]),
  );

export const header = (mail: Email, name: string) => mail.headers.find(({ key }) => key === name)?.value;

/** The link that unsubscribes. */
export const linkIn = (mail: Email) => /<([^>]+)>/.exec(header(mail, 'list-unsubscribe')!)![1]!;
