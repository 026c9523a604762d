import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import type { ReleaseRecord } from '../../lib/records/releases.ts';
import {
  RELEASE_PREFIX,
  releaseCountKey,
  releaseEvidenceKey,
  releaseKey,
  releaseListKey,
} from '../../lib/store/row-keys/releases.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const KINDS = ['release', 'release-in-list', 'release-evidence', 'release-count'] as const;

/** Each release is under its tag, once in both orders, has its evidences, and is counted. */
export const releases = rowCheck(KINDS, function* (rows) {
  const all = rows.of('RELEASES#');
  for (const { id: projectId } of livingOf(rows)) {
    const own = all.filter(({ pk }) => pk === releaseCountKey(projectId).pk);
    const held = own.filter(({ sk }) => sk.startsWith(RELEASE_PREFIX)) as unknown as (Row & ReleaseRecord)[];
    const expected = new Map(
      held.flatMap(({ id, tag, releasedAt, createdAt, evidences = [] }) => [
        [keyText(releaseListKey(projectId, 'released', releasedAt, id)), tag] as const,
        [keyText(releaseListKey(projectId, 'created', createdAt, id)), tag] as const,
        ...evidences.map(
          (evidence) => [keyText(releaseEvidenceKey(projectId, id, evidence.id)), evidence.sha] as const,
        ),
      ]),
    );
    for (const { pk, sk, tag } of held)
      if (releaseKey(projectId, tag).sk !== sk) yield `${keyText({ pk, sk })} holds the release of ${tag}`;
    for (const row of own) {
      if (row.sk.startsWith(RELEASE_PREFIX) || row.sk === 'COUNT') continue;
      if (expected.get(keyText(row)) !== (row['tag'] ?? digestOf(row)))
        yield `${keyText(row)} is of no release`;
      expected.delete(keyText(row));
    }
    for (const [key, of] of expected) yield `the release or evidence ${of} lacks the row ${key}`;
    const count = (rows.get(releaseCountKey(projectId))?.['releases'] as number | undefined) ?? 0;
    if (count !== held.length) yield `project ${projectId} counts ${count} of ${held.length} releases`;
  }
});

const digestOf = ({ document }: Row): string =>
  createHash('sha256')
    .update(inflateRawSync(document as Uint8Array))
    .digest('hex');
