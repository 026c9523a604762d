/** Decides which jobs a pipeline has: https://docs.gitlab.com/ee/ci/jobs/job_control.html */
import type { Policy, Rule } from './entries/conditions.ts';
import { type Expression, holds } from './expression/expression.ts';
import type { Matching } from './matching.ts';
import { expand, type Variables } from './variables.ts';

/** What conditions are about. */
export interface Conditions {
  readonly variables: Variables;
  /** One for all conditions of a configuration. */
  readonly matching: Matching;
  /** Paths that the push or merge request changes; undefined where nothing is compared: then all are changed. */
  changedPaths(): Promise<readonly string[] | undefined>;
  /** Paths of files of the commit, in order. */
  allPaths(): Promise<readonly string[]>;
}

/** What `only` and `except` ask of a pipeline beside that. */
export interface RefConditions extends Conditions {
  readonly ref: string;
  readonly isTag: boolean;
  /** `push`, `web`, `schedule`, `merge_request_event` and so on. */
  readonly source: string;
  readonly projectPath: string;
}

/** Comparisons of paths with patterns in one `exists`; beyond, it holds. */
const MAX_COMPARISONS = 10_000;

/** Returns the first rule whose conditions all hold. */
export async function firstRule(rules: readonly Rule[], conditions: Conditions): Promise<Rule | undefined> {
  for (const rule of rules) {
    await conditions.matching.step();
    if (await applies(rule, conditions)) return rule;
  }
  return undefined;
}

async function applies(rule: Rule, conditions: Conditions): Promise<boolean> {
  if (rule.if !== undefined && !(await holds(rule.if, conditions.variables, conditions.matching)))
    return false;
  if (rule.changes !== undefined && !(await hasChanged(rule.changes, conditions))) return false;
  return rule.exists === undefined || exists(rule.exists, conditions);
}

const patternsOf = (globs: readonly string[], { variables, matching }: Conditions) =>
  matching.globs(globs.map((glob) => expand(glob, variables)));

async function hasChanged(globs: readonly string[], conditions: Conditions): Promise<boolean> {
  const paths = await conditions.changedPaths();
  return paths === undefined || conditions.matching.some(paths, await patternsOf(globs, conditions));
}

async function exists(globs: readonly string[], conditions: Conditions): Promise<boolean> {
  const patterns = await patternsOf(globs, conditions);
  if (patterns.length === 0) return false;
  return conditions.matching.some(await conditions.allPaths(), patterns, MAX_COMPARISONS);
}

/** Whether a job without rules belongs to a pipeline. */
export async function isSelected(
  only: Policy,
  except: Policy | undefined,
  conditions: RefConditions,
): Promise<boolean> {
  const onlyParts = partsOf(only, conditions);
  for (const part of onlyParts) if (!(await part())) return false;
  for (const part of except === undefined ? [] : partsOf(except, conditions)) if (await part()) return false;
  return true;
}

/** Each part of a policy: all of `only` must hold, and none of `except`. */
function partsOf({ refs, variables, changes, kubernetes }: Policy, conditions: RefConditions) {
  const parts: (() => Promise<boolean>)[] = [];
  if (refs !== undefined) parts.push(() => some(refs, (ref) => fitsRef(ref, conditions)));
  if (variables !== undefined)
    parts.push(() =>
      some(variables, (expression: Expression) =>
        holds(expression, conditions.variables, conditions.matching),
      ),
    );
  if (changes !== undefined) parts.push(() => hasChanged(changes, conditions));
  // There are no clusters.
  if (kubernetes !== undefined) parts.push(async () => false);
  return parts;
}

async function some<T>(items: readonly T[], fits: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await fits(item)) return true;
  return false;
}

/** The sources that the words of `only` stand for. */
const SOURCES: Readonly<Record<string, string>> = {
  pushes: 'push',
  web: 'web',
  triggers: 'trigger',
  schedules: 'schedule',
  api: 'api',
  external: 'external',
  pipelines: 'pipeline',
  chat: 'chat',
  merge_requests: 'merge_request_event',
  external_pull_requests: 'external_pull_request_event',
};

/** @param condition `branches`, a source, the name of a ref or a pattern; also with `@group/project` behind it */
async function fitsRef(condition: string, conditions: RefConditions): Promise<boolean> {
  const { ref, isTag, source, projectPath, matching } = conditions;
  const isMergeRequest = source === 'merge_request_event';
  const [, bare, path] = /^(.*?)(?:@([^@/]+\/[^@]+))?$/s.exec(condition) as unknown as [
    string,
    string,
    string?,
  ];
  if (path !== undefined && path !== projectPath) return false;
  if (bare === 'branches') return !isTag && !isMergeRequest;
  if (bare === 'tags') return isTag;
  if (SOURCES[bare] !== undefined) return SOURCES[bare] === source;
  if (isMergeRequest) return false;
  if (bare.startsWith('/')) return (await matching.pattern(bare))?.matches(ref) ?? false;
  return bare === ref;
}
