/** The order for the worker that fetches a repository. It may neither read nor write our data: URLs are its rights. */
import {
  IMPORT_FETCH_JOB,
  type ImportOrderBody,
  type StagingOrder,
} from '../../outbound/stage-repository.ts';
import { message, OUTBOUND } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { maxImportBytes } from '../repository/size-limits.ts';
import { importing } from './finish.ts';
import { outboundAllow, SEALED_CREDENTIALS, STAGED_REFS } from './plan.ts';

/** How long the URLs are valid. They also end with the credentials of the role that signed them, which last longer. */
const SIGNED_SECONDS = 3600;

/**
 * Signs the URLs of an import and orders its fetch. They are signed here and not by the request, because an order may wait
 * longer than they last: the worker that finds them too old asks for another one by this job.
 */
export async function orderImport(deps: Deps, { projectId, importId, key }: ImportOrderBody): Promise<void> {
  const project = await importing(deps, { projectId, importId });
  if (project?.importSource === undefined) return;
  const { stagingArea: staging } = deps.store;
  const signedUntil = deps.now().getTime() + SIGNED_SECONDS * 1000;
  const [packUrl, refsUrl, sealed, maxPackBytes, settings] = await Promise.all([
    staging.presignUnsized(importId, SIGNED_SECONDS),
    staging.presignNote(importId, STAGED_REFS, SIGNED_SECONDS),
    key === undefined ? undefined : staging.presignNoted(importId, SEALED_CREDENTIALS, SIGNED_SECONDS),
    maxImportBytes(deps),
    deps.settings.current(),
  ]);
  const order: StagingOrder = {
    url: project.importSource.url,
    packUrl,
    refsUrl,
    maxPackBytes,
    allow: outboundAllow(deps, settings),
    signedUntil,
    ...(key === undefined || sealed === undefined ? {} : { credentials: { url: sealed, key } }),
  };
  await deps.store.outbox.commit(
    [],
    [message(OUTBOUND, IMPORT_FETCH_JOB, { projectId, importId, ...order })],
  );
}
