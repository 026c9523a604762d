import { type Config, readConfig } from '../../ci/config.ts';
import { ConfigError } from '../../ci/errors.ts';
import type { IncludeContext } from '../../ci/include.ts';
import { NoPipeline, type Plan, planPipeline } from '../../ci/plan.ts';
import type { Variables } from '../../ci/variables.ts';
import { writeYaml } from '../../ci/yaml/parse.ts';
import { shortName } from '../../git/refname.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { codeOf } from '../repository/read.ts';
import { includesOf, includesWithoutProject, pushConditions } from './includes.ts';
import { configText } from './source.ts';

const NO_CONTENT = 'Please provide content of .gitlab-ci.yml';

/** What is to be said of a configuration. */
export interface Lint {
  readonly valid: boolean;
  readonly errors: readonly string[];
  /** The configuration with all that it includes and extends; null where it could not be read. */
  readonly mergedYaml: string | null;
  readonly config: Config | undefined;
  /** The jobs of a pipeline that a push would start, if that was asked for. */
  readonly plan: Plan | undefined;
}

export interface LintRequest {
  /** The configuration; undefined: that of the project at `at`. */
  readonly content: string | undefined;
  /** Branch, tag or commit; undefined: the default branch. */
  readonly at: string | undefined;
  /** Whether a push is pretended. */
  readonly dryRun: boolean;
  /** Branch of that push; undefined: the default branch. */
  readonly ref: string | undefined;
}

/** Checks a configuration that belongs to no project: what it includes of projects is read as the actor. */
export const lintText = (deps: Deps, actor: Actor, content: string): Promise<Lint> =>
  judged(content, includesWithoutProject(deps, actor));

/** Checks a configuration as that of a project. @throws `404 Reference Not Found` */
export async function lintProject(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { content, at, dryRun, ref }: LintRequest,
): Promise<Lint> {
  const git = codeOf(deps, access);
  const [found, head, pretended] = await Promise.all([
    git.resolve(at ?? 'HEAD'),
    git.headRef(),
    ref === undefined ? undefined : git.resolve(ref),
  ]);
  if (ref !== undefined && pretended === undefined) throw notFound('Reference');
  if (found === undefined) {
    if (at !== undefined) throw notFound('Reference');
    // An empty repository has no file, and includes none.
    return content === undefined ? refused([NO_CONTENT]) : lintText(deps, actor, content);
  }
  const defaultBranch = shortName(head.target);
  const branch = ref ?? defaultBranch;
  const variables = variablesOf(access.project, { branch, defaultBranch, sha: found.commit });
  let text = content;
  try {
    text ??= await configText(deps, actor, access, { git, commit: found.commit });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refused(error.messages);
  }
  const context = includesOf(deps, actor, { git, commit: found.commit, variables });
  return judged(
    text,
    context,
    dryRun ? (config) => planPipeline(config, pushConditions(context, access, branch)) : undefined,
  );
}

async function judged(
  text: string | undefined,
  context: IncludeContext,
  plan?: (config: Config) => Promise<Plan>,
): Promise<Lint> {
  if (text === undefined || text.trim() === '') return refused([NO_CONTENT]);
  let config: Config;
  let mergedYaml: string;
  try {
    config = await readConfig(text, context);
    mergedYaml = await writeYaml(config.merged);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refused(error.messages);
  }
  try {
    return { valid: true, errors: [], mergedYaml, config, plan: await plan?.(config) };
  } catch (error) {
    const errors =
      error instanceof ConfigError ? error.messages : error instanceof NoPipeline && [error.message];
    if (!errors) throw error;
    return { valid: false, errors, mergedYaml, config, plan: undefined };
  }
}

const refused = (errors: readonly string[]): Lint => ({
  valid: false,
  errors,
  mergedYaml: null,
  config: undefined,
  plan: undefined,
});

/** The predefined variables that conditions of includes and jobs ask for. */
function variablesOf(
  { id, fullPath, name }: ProjectRecord,
  {
    branch,
    defaultBranch,
    sha,
  }: { readonly branch: string; readonly defaultBranch: string; readonly sha: string },
): Variables {
  const [, namespace = '', path = ''] = /^(.*)\/([^/]+)$/.exec(fullPath) ?? [];
  return new Map([
    ['CI', 'true'],
    ['CI_COMMIT_BRANCH', branch],
    ['CI_COMMIT_REF_NAME', branch],
    ['CI_COMMIT_SHA', sha],
    ['CI_COMMIT_SHORT_SHA', sha.slice(0, 8)],
    ['CI_DEFAULT_BRANCH', defaultBranch],
    ['CI_PIPELINE_SOURCE', 'push'],
    ['CI_PROJECT_ID', String(id)],
    ['CI_PROJECT_NAME', path],
    ['CI_PROJECT_NAMESPACE', namespace],
    ['CI_PROJECT_PATH', fullPath],
    ['CI_PROJECT_TITLE', name],
  ]);
}
