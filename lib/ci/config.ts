/** A whole configuration: what its jobs are, before it is known of which pipeline. */
import { inTurns, type Steps } from '../git/work.ts';
import { type Rule, rules } from './entries/conditions.ts';
import { DEFAULT_KEYWORDS, type Defaults, inheritedOf, type Job, jobOf } from './entries/job.ts';
import { isText, isTexts, Problems } from './entries/problems.ts';
import { globalVariables, type VariableTexts } from './entries/variables.ts';
import { ConfigError } from './errors.ts';
import { extendJobs } from './extends.ts';
import { type IncludeContext, includeFiles } from './include.ts';
import { resolveReferences } from './references.ts';
import { parseYaml } from './yaml/parse.ts';
import { type Hash, isHash, OF_ALL, requireBounded, valueAt } from './yaml/values.ts';

export interface Config {
  /** In their order, `.pre` and `.post` included. */
  readonly stages: readonly string[];
  readonly jobs: ReadonlyMap<string, Job>;
  readonly variables: VariableTexts;
  /** Which pipelines there are; undefined: all. */
  readonly workflow: readonly Rule[] | undefined;
  /** The configuration with all that it includes, extends and refers to. */
  readonly merged: Hash;
}

/** Jobs of a configuration, before `parallel`. */
const MAX_JOBS = 2000;
const MAX_NEEDS = 50;

const GLOBAL_KEYWORDS = [
  ...['default', 'include', 'workflow', 'variables', 'stages', 'types'],
  ...['before_script', 'after_script', 'image', 'services', 'cache'],
];

/**
 * Reads a configuration.
 * @param context where the files come from that it includes
 * @throws ConfigError with everything that is wrong
 */
export async function readConfig(text: string, context: IncludeContext): Promise<Config> {
  const included = await includeFiles(await parseYaml(text), context);
  const extended = await inTurns(extendJobs(included));
  const merged = await inTurns(resolveReferences(extended));
  // What it was before has no more: on the way, the values that are copied are bounded.
  await inTurns(requireBounded(merged, OF_ALL));
  return inTurns(configOf(merged));
}

function* configOf(merged: Hash): Steps<Config> {
  const problems = new Problems();
  const defaults = defaultsOf(merged, problems);
  const given = valueAt(merged, 'variables');
  const variables = given == null ? {} : (globalVariables(given, 'variables', problems) ?? {});
  const stages = stagesOf(merged, problems);
  const workflow = workflowOf(valueAt(merged, 'workflow'), problems);
  const jobs = new Map<string, Job>();
  const visible = Object.entries(merged).filter(
    ([name]) => !name.startsWith('.') && !GLOBAL_KEYWORDS.includes(name),
  );
  if (visible.length === 0) problems.messages.push('jobs config should contain at least one visible job');
  if (visible.length > MAX_JOBS) throw new ConfigError(`jobs config contains more than ${MAX_JOBS} jobs`);
  for (const [name, value] of visible) {
    const job = jobOf(name, value, defaults, problems);
    if (job !== undefined) jobs.set(name, job);
    yield;
  }
  if (problems.messages.length > 0) throw new ConfigError(...problems.messages);
  yield* requireConsistent(jobs, stages);
  return { stages, jobs, variables, workflow, merged };
}

/** `default`, and the older way to say the same beside the jobs. */
function defaultsOf(merged: Hash, problems: Problems): Defaults {
  const given = valueAt(merged, 'default');
  if (given != null && !isHash(given)) {
    problems.add('default', 'config should be a hash');
    return {};
  }
  const older = ['before_script', 'after_script', 'image', 'services', 'cache'];
  const outside = Object.fromEntries(
    older.flatMap((key) => (merged[key] == null ? [] : [[key, merged[key]]])),
  );
  if (given == null) return rootDefaults(outside, problems);
  if (!problems.keys('default', given, DEFAULT_KEYWORDS)) return {};
  for (const key of Object.keys(outside))
    if (given[key] != null)
      problems.add('default', `config ${key} is defined in top-level and \`default:\` entry`);
  return { ...rootDefaults(outside, problems), ...inheritedOf(given, 'default', problems) };
}

/** An entry beside the jobs is told under its own name. */
function rootDefaults(outside: Hash, problems: Problems): Defaults {
  const own = new Problems();
  const found = inheritedOf(outside, '', own);
  problems.messages.push(...own.messages.map((message) => message.replace(/^:/, '')));
  return found;
}

function stagesOf(merged: Hash, problems: Problems): readonly string[] {
  const given = valueAt(merged, 'stages') ?? valueAt(merged, 'types') ?? ['build', 'test', 'deploy'];
  if (!isTexts(given)) {
    problems.add('stages', 'config should be an array of strings');
    return [];
  }
  return ['.pre', ...new Set(given.filter((stage) => stage !== '.pre' && stage !== '.post')), '.post'];
}

function workflowOf(given: unknown, problems: Problems): readonly Rule[] | undefined {
  if (given == null) return undefined;
  if (!isHash(given)) return problems.add('workflow', 'config should be a hash');
  if (!problems.keys('workflow', given, ['rules', 'name', 'auto_cancel'])) return undefined;
  return given['rules'] == null
    ? undefined
    : rules(['always', 'never'])(given['rules'], 'workflow:rules', problems);
}

/** Jobs name stages and one another. */
function* requireConsistent(jobs: ReadonlyMap<string, Job>, stages: readonly string[]): Steps<void> {
  const messages: string[] = [];
  const known: Stages = { positions: new Map(stages.map((stage, i) => [stage, i])), told: stages.join(', ') };
  let told = 0;
  for (const job of jobs.values()) {
    for (const message of inconsistencies(job, jobs, known)) {
      told += message.length;
      messages.push(message);
    }
    if (told > MAX_TOLD) throw new ConfigError(...messages);
    yield;
  }
  messages.push(...(yield* circles(jobs)));
  if (messages.length > 0) throw new ConfigError(...messages);
}

/** Characters of messages after which no more are looked for. */
const MAX_TOLD = 100_000;

interface Stages {
  readonly positions: ReadonlyMap<string, number>;
  /** All of them, as messages name them. */
  readonly told: string;
}

function inconsistencies(
  job: Job,
  jobs: ReadonlyMap<string, Job>,
  { positions, told: available }: Stages,
): string[] {
  const { name, stage, needs, dependencies = [], environment, trigger } = job;
  const position = positions.get(stage);
  const isLater = (other: Job) => (positions.get(other.stage) ?? -1) > position!;
  if (position === undefined)
    return [`${name} job: chosen stage does not exist; available stages are ${available}`];
  const messages: string[] = [];
  for (const dependency of dependencies) {
    const other = jobs.get(dependency);
    if (other === undefined) messages.push(`${name} job: undefined dependency: ${dependency}`);
    else if (isLater(other) || (needs === undefined && other.stage === stage))
      messages.push(`${name} job: dependency ${dependency} is not defined in current or prior stages`);
  }
  for (const file of trigger?.include ?? []) {
    // Where files come from that jobs leave.
    const source = file['job'];
    if (!isText(source)) continue;
    const other = jobs.get(source);
    if (other === undefined) messages.push(`${name} job: undefined dependency: ${source}`);
    else if (isLater(other))
      messages.push(`${name} job: dependency ${source} is not defined in current or prior stages`);
  }
  for (const { job: need, optional } of needs?.jobs ?? []) {
    const other = jobs.get(need);
    if (other === undefined && !optional) messages.push(`${name} job: undefined need: ${need}`);
    else if (other !== undefined && isLater(other))
      messages.push(`${name} job: need ${need} is not defined in current or prior stages`);
  }
  const needed = needs?.jobs.length ?? 0;
  if (needed > MAX_NEEDS)
    messages.push(
      `${name} job: the number of needs is ${needed}, which is more than the limit of ${MAX_NEEDS}`,
    );
  const stop = environment?.on_stop;
  if (stop !== undefined) messages.push(...stopProblems(name, stop, environment!.name, jobs.get(stop)));
  return messages;
}

function stopProblems(name: string, stop: string, environment: string, job: Job | undefined): string[] {
  const told = (problem: string) => [`${name} job: on_stop job ${stop} ${problem}`];
  if (job === undefined) return told('is not defined');
  if (job.environment === undefined) return told('does not have environment defined');
  if (job.environment.name !== environment) return told('have different environment name');
  return job.environment.action === 'stop' ? [] : told('needs to have action stop defined');
}

/** Jobs of one stage may need each other, but not in a circle. */
function* circles(jobs: ReadonlyMap<string, Job>): Steps<string[]> {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of jobs.keys()) {
    yield;
    const path: { name: string; next: number }[] = [];
    const enter = (name: string) => {
      state.set(name, 'open');
      path.push({ name, next: 0 });
    };
    if (!state.has(start)) enter(start);
    while (path.length > 0) {
      const at = path.at(-1)!;
      const need = jobs.get(at.name)?.needs?.jobs[at.next++];
      if (need === undefined) {
        state.set(at.name, 'done');
        path.pop();
      } else if (state.get(need.job) === 'open') return ['The pipeline has circular dependencies'];
      else if (!state.has(need.job) && jobs.has(need.job)) enter(need.job);
    }
  }
  return [];
}
