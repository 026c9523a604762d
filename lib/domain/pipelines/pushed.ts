/** The pipelines that pushes ask for. */

import { ZERO_OID } from '../../git/oid.ts';
import { type RefName, shortName, spaceOf } from '../../git/refname.ts';
import type { PipelineRecord, PipelineVariable } from '../../records/pipelines.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { parsePushOptions } from '../git/push-options.ts';
import { codeOf } from '../repository/read.ts';
import { createAutomatically } from './create.ts';
import { replaceOlder } from './replace.ts';
import { asksToSkip } from './skip.ts';
import { stopForBranch } from './stop-environment.ts';

export interface PushedRefs {
  readonly projectId: number;
  readonly refs: readonly { readonly name: string; readonly from: string; readonly to: string }[];
  readonly actorId: number | null;
  readonly baseUrl: string;
  /** Those of the push that are about pipelines. */
  readonly options?: readonly string[] | undefined;
}

/**
 * Makes a pipeline for each ref of a push, and stops what was deployed from deleted branches. It may run twice: what is there
 * already is not made again.
 */
export async function createForPush(deps: Deps, pushed: PushedRefs, messageId: string): Promise<void> {
  const { projectId, refs, actorId, baseUrl } = pushed;
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  if (user === undefined) return;
  const actor = actingFor(user, baseUrl);
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined) return;
  const { skipCi, ciVariables } = parsePushOptions(pushed.options ?? []);
  const variables = ciVariables.map((each): PipelineVariable => ({ ...each, type: 'env_var' }));
  const git = codeOf(deps, access);
  for (const { name, from, to } of refs) {
    if (to === ZERO_OID) {
      await stopForBranch(deps, actor, access, shortName(name as RefName));
      continue;
    }
    const tip = await git.resolve(to);
    // The branch may be gone with its commits.
    if (tip === undefined) continue;
    const madeBy = `${messageId} ${name}`;
    const known = await deps.store.pipelines.ofCommit(projectId, tip.commit, LOOKED_AT);
    if (known.some((pipeline) => pipeline.madeBy === madeBy)) continue;
    const { message } = await git.commit(tip.commit);
    let made: PipelineRecord | undefined;
    try {
      made = await createAutomatically(deps, actor, access, {
        ref: name,
        sha: to,
        source: 'push',
        beforeSha: spaceOf(name as RefName) === 'heads' ? from : ZERO_OID,
        variables,
        skip: skipCi || asksToSkip(message),
        madeBy,
      });
    } catch (error) {
      // It is gone by now, or may not be used any more.
      if (!(error instanceof DomainError)) throw error;
    }
    if (made !== undefined) await replaceOlder(deps, access, made);
  }
}

/** Newest pipelines of a commit among which that of the message is looked for. */
const LOOKED_AT = 50;
