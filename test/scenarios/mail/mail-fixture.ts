import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

/** A service of one's own with people who act in it, and what each of them is sent. */
export class MailFixture {
  readonly people: Record<string, { id: number; username: string; token: string }> = {};
  readonly service: Service;
  #seen = new Set<string>();

  private constructor(service: Service) {
    this.service = service;
  }

  static async open(names: readonly string[]): Promise<MailFixture> {
    const fixture = new MailFixture(await startService());
    for (const name of names) fixture.people[name] = await fixture.service.user(name);
    return fixture;
  }

  /** As one of the people, or as `root`. @returns the body @throws what is answered with an error */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly call = async (who: string, method: string, path: string, json?: unknown): Promise<any> => {
    const token = who === 'root' ? this.service.rootToken : this.people[who]!.token;
    const options = { token, ...(json === undefined ? {} : { json }) };
    const { status, body } = await this.service.call(method, path, options);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  /** @param at a project's or group's path in the interface; empty: for everything */
  readonly prefer = (who: string, at: string, json: object) =>
    this.call(who, 'PUT', `${at}/notification_settings`, json);

  /** What was sent so far counts no longer. */
  readonly forget = (): void => {
    this.#seen = new Set(readdirSync(this.service.mailDir));
  };

  /** The mails since then, by recipient: names, or addresses of other domains. */
  readonly mails = async (): Promise<Record<string, Email[]>> => {
    await settled();
    const found: Record<string, Email[]> = {};
    for (const file of readdirSync(this.service.mailDir).sort()) {
      if (this.#seen.has(file) || !file.endsWith('.eml')) continue;
      const mail = await PostalMime.parse(readFileSync(join(this.service.mailDir, file)));
      const name = mail.to![0]!.address!.replace('@example.com', '');
      found[name] = [...(found[name] ?? []), mail];
    }
    return found;
  };
}

/** Why each was sent what they were. */
export const reasons = (found: Readonly<Record<string, readonly Email[]>>) =>
  Object.fromEntries(
    Object.entries(found).map(([name, all]) => [
      name,
      all.map((mail) => header(mail, 'x-lemnos-notificationreason')),
    ]),
  );

export const header = (mail: Email, name: string) => mail.headers.find(({ key }) => key === name)?.value;

/** To hear no more of it. */
export const linkIn = (mail: Email) => /<([^>]+)>/.exec(header(mail, 'list-unsubscribe')!)![1]!;
