import { createHash } from 'node:crypto';
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { checkRepository } from './check-git.ts';
import { invariants, livingOf, settledInvariants } from './check-rows.ts';
import type { Data } from './data.ts';
import type { Ledger } from './ledger.ts';
import { type Row, type Rows, readRows } from './rows.ts';

export interface Report {
  /** What is wrong, a line each, the check's name in front. */
  readonly problems: readonly string[];
  readonly items: number;
  readonly packs: number;
  /** Objects that no repository lists: what interrupted writers left for the sweeper. */
  readonly unlisted: number;
  /** Promises that wait to be sent. */
  readonly promises: number;
  /** Repositories whose writer of a ref table died. */
  readonly frozen: number;
}

/**
 * Reads everything that is stored and says what is wrong with it, and what of the ledger is not there. The host must
 * be down.
 *
 * @param settled whether the workers have had the time to do all they were asked
 */
export async function check(data: Data, ledger: Ledger, settled: boolean): Promise<Report> {
  const rows = await readRows(data);
  const problems: string[] = [];
  const note = (name: string, found: Iterable<string>) => {
    for (const problem of found) problems.push(`${name}: ${problem}`);
  };
  const checks = settled ? { ...invariants, ...settledInvariants } : invariants;
  for (const [name, run] of Object.entries(checks)) note(name, run(rows));
  note('acknowledged', await missing(data, ledger));
  for (const { row } of livingOf(rows)) {
    const project = row as unknown as { id: number; repositoryId: string };
    const unreadable = (error: Error) => [`project ${project.id} cannot be read: ${error.message}`];
    note('git', await checkRepository(data, project, ledger).catch(unreadable));
  }
  const stored = await storedObjects(data, rows);
  note('objects', stored.problems);
  note('dead letters', await deadLetters(data));
  return {
    problems,
    items: rows.items.length,
    packs: stored.listed,
    unlisted: stored.unlisted,
    promises: rows.of('OUTBOX#').length,
    frozen: rows.of('REPO#').filter(({ sk, frozenBy }) => sk === 'GUARD#0' && frozenBy !== '').length,
  };
}

/** Through the service's own reads, by the names that clients use. */
async function missing({ store }: Data, ledger: Ledger): Promise<string[]> {
  const problems: string[] = [];
  for (const [id, { username, email }] of ledger.users) {
    if ((await store.users.byUsername(username))?.id !== id) problems.push(`user ${username} is not ${id}`);
    if ((await store.users.byEmail(email))?.id !== id) problems.push(`${email} is not user ${id}'s`);
  }
  for (const [text, { id, userId }] of ledger.tokens) {
    const token = await store.tokens.byHash(createHash('sha256').update(text).digest('hex'));
    if (token?.id !== id || token.userId !== userId)
      problems.push(`token ${id} of user ${userId} is unknown`);
  }
  for (const [path, { id, present }] of ledger.projects) {
    const is = (await store.projects.byPath(path))?.id === id;
    if (!present.possible.has(is)) problems.push(`project ${path} is ${is ? 'still there' : 'gone'}`);
  }
  for (const [key, { possible }] of ledger.members) {
    const [projectId, userId] = key.split(' ').map(Number) as [number, number];
    const level = (await store.members.get(projectId, userId))?.accessLevel ?? 0;
    if (!possible.has(level) && (await store.projects.get(projectId)) !== undefined)
      problems.push(
        `user ${userId} has level ${level} in project ${projectId} and not ${[...possible].join(' or ')}`,
      );
  }
  return problems;
}

/** Every object below `networks/` is of a repository that is there, or is promised to be swept. */
async function storedObjects({ store }: Data, rows: Rows) {
  const problems: string[] = [];
  const packs = rows.of('REPO#').filter(({ sk }) => /^(OLD)?PACK#/.test(sk));
  const repositories = new Set(livingOf(rows).map(({ row }) => row['repositoryId'] as string));
  // Of those on their way out, bytes go before rows.
  const promised = rows.of('OUTBOX#').map((row) => row['body']);
  const deleted = rows.of('PROJECT#').filter((row) => row['deletedAt']);
  const leaving = new Set(
    [...promised, ...deleted].map((row) => (row as { repositoryId?: string }).repositoryId),
  );
  const listed = new Set(
    packs.filter(({ pk }) => repositories.has(pk.slice('REPO#'.length))).flatMap(objectKeys),
  );
  let unlisted = 0;
  let after: string | undefined;
  do {
    const page = await store.blobs.list('networks/', after === undefined ? {} : { after });
    for (const key of page.keys) {
      // Of whoever wrote it: `networks/<network>/packs/<repository>/<pack>`.
      const repository = key.split('/')[3]!;
      if (listed.delete(key)) continue;
      if (repositories.has(repository)) unlisted++;
      else if (!leaving.has(repository)) problems.push(`${key} is nobody's`);
    }
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  // Of a superseded pack the bytes go before the row.
  const needed = new Set(packs.filter((pack) => pack['state'] === 'active').flatMap(objectKeys));
  for (const key of listed) if (needed.has(key)) problems.push(`${key} is listed and not there`);
  return { problems, unlisted, listed: packs.length };
}

function objectKeys(pack: Row): string[] {
  const location = pack['location'] as string;
  return pack['layout'] === 'joined' ? [location] : [`${location}.pack`, `${location}.idx`];
}

async function deadLetters({ clients }: Data): Promise<string[]> {
  const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: 'maintenance-dead' }));
  const { Attributes } = await clients.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  const count = Number(Attributes?.['ApproximateNumberOfMessages']);
  return count === 0 ? [] : [`${count} messages were given up`];
}
