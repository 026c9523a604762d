import type { ReleaseRecord } from '../../lib/records/releases.ts';
import {
  RELEASE_PREFIX,
  releaseCountKey,
  releaseKey,
  releaseListKey,
} from '../../lib/store/row-keys/releases.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each release is under its tag, once in both orders, and counted. */
export const releases = rowCheck(['release', 'release-in-list', 'release-count'], function* (rows) {
  const all = rows.of('RELEASES#');
  for (const { id: projectId } of livingOf(rows)) {
    const own = all.filter(({ pk }) => pk === releaseCountKey(projectId).pk);
    const held = own.filter(({ sk }) => sk.startsWith(RELEASE_PREFIX)) as unknown as (Row & ReleaseRecord)[];
    const expected = new Map(
      held.flatMap(({ id, tag, releasedAt, createdAt }) =>
        [
          releaseListKey(projectId, 'released', releasedAt, id),
          releaseListKey(projectId, 'created', createdAt, id),
        ].map((key) => [keyText(key), tag] as const),
      ),
    );
    for (const { pk, sk, tag } of held)
      if (releaseKey(projectId, tag).sk !== sk) yield `${keyText({ pk, sk })} holds the release of ${tag}`;
    for (const row of own) {
      if (row.sk.startsWith(RELEASE_PREFIX) || row.sk === 'COUNT') continue;
      if (expected.get(keyText(row)) !== row['tag']) yield `${keyText(row)} is of no release`;
      expected.delete(keyText(row));
    }
    for (const [key, tag] of expected) yield `the release of ${tag} lacks the row ${key}`;
    const count = (rows.get(releaseCountKey(projectId))?.['releases'] as number | undefined) ?? 0;
    if (count !== held.length) yield `project ${projectId} counts ${count} of ${held.length} releases`;
  }
});
