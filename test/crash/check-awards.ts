import { type AwardRecord, votesOf } from '../../lib/records/award-emoji.ts';
import { awardKey, awardsOfUserKey } from '../../lib/store/row-keys/award-emoji.ts';
import { ISSUE } from '../../lib/store/row-keys/issues.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { mergeRequestKeys } from '../../lib/store/row-keys/merge-requests.ts';
import { userKey, userPartition } from '../../lib/store/row-keys/users.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Awards are at their place, found under their user, each once; and what they are on counts those that are votes. */
export const awards = rowCheck(['award', 'awards-of-user'], function* (rows) {
  const all = rows.of('AWARDS#');
  const votes = new Map<string, { upvotes: number; downvotes: number }>();
  const names = new Map<string, string[]>();
  for (const row of all.filter(({ sk }) => sk.includes('#ID#'))) {
    const award = row as unknown as Row & AwardRecord;
    const { id, noteable, author, name } = award;
    const what = `award ${id}`;
    if (keyText(awardKey(award, id)) !== keyText(row)) yield `${what} stands at ${keyText(row)}`;
    const { upvotes = 0, downvotes = 0 } = votesOf(award, 1);
    // An issue and a merge request may have the same id.
    const object = `${noteable.kind} ${noteable.id}`;
    const counted = votes.get(object) ?? { upvotes: 0, downvotes: 0 };
    votes.set(object, {
      upvotes: counted.upvotes + upvotes,
      downvotes: counted.downvotes + downvotes,
    });
    if (row['who'] === undefined) {
      if (rows.get(userKey(author.id))?.['type'] !== 'ghost') yield `${what} is found under nobody`;
      continue;
    }
    if (row['who'] !== userPartition(author.id)) yield `${what} is not found under user ${author.id}`;
    const key = keyText(awardsOfUserKey(award, author.id));
    names.set(key, [...(names.get(key) ?? []), name]);
  }
  for (const row of all.filter(({ sk }) => sk.includes('#BY#'))) {
    const given = names.get(keyText(row)) ?? [];
    names.delete(keyText(row));
    if (`${row['names']}` !== `${given}`) yield `${keyText(row)} has ${row['names']} for ${given}`;
    if (row['who'] !== userPartition(idOf(row.sk))) yield `${keyText(row)} is found under ${row['who']}`;
  }
  for (const key of names.keys()) yield `${key} does not exist`;
  for (const [kind, partitions, prefix] of TRACKED)
    for (const row of rows.of(partitions).filter(({ sk }) => sk.startsWith(prefix))) {
      const { upvotes, downvotes } = votes.get(`${kind} ${row['id']}`) ?? { upvotes: 0, downvotes: 0 };
      if ((row['upvotes'] ?? 0) !== upvotes || (row['downvotes'] ?? 0) !== downvotes)
        yield `${kind} ${row['id']} counts ${row['upvotes']}, ${row['downvotes']} votes of ${upvotes}, ${downvotes}`;
    }
});

const TRACKED = [
  ['issue', 'ISSUES#', ISSUE],
  ['merge-request', 'MRS#', mergeRequestKeys.recordPrefix],
  ['epic', 'EPIC#', 'EPIC'],
] as const;
