/** The jobs that the configuration of a commit says a pipeline has. */

import { type Config, readConfig } from '../../ci/config.ts';
import { NoPipeline, type Plan, planPipeline } from '../../ci/plan.ts';
import type { Variables } from '../../ci/variables.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { includesOf } from '../ci-config/includes.ts';
import { configText } from '../ci-config/source.ts';
import type { PipelineFacts } from '../ci-variables/predefined.ts';
import type { Deps } from '../deps.ts';
import { changedBetween } from './changed-paths.ts';
import type { PipelineRequest, Place } from './request.ts';

interface Planning {
  readonly facts: PipelineFacts;
  readonly place: Place;
  readonly given: Variables;
  readonly request: PipelineRequest;
}

/** @returns undefined for a pipeline that is to have none @throws ConfigError, NoPipeline */
export async function planOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { facts, place: { git, commit, isTag }, given, request }: Planning,
): Promise<Plan | undefined> {
  const text = request.config ?? (await configText(deps, actor, access, { git, commit: commit.oid }));
  if (text === undefined) throw new NoPipeline('Missing CI config file');
  if (request.skip === true) return undefined;
  const source = { git, commit: commit.oid, variables: given };
  const context = {
    ...includesOf(deps, actor, source),
    changedPaths: changedBetween(git, request, commit.oid),
    artifact: request.artifact,
  };
  const config: Config = await readConfig(text, context);
  return planPipeline(config, {
    ...context,
    ref: facts.ref,
    isTag,
    source: request.source,
    projectPath: facts.project.fullPath,
  });
}
