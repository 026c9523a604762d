/** One job of a configuration: https://docs.gitlab.com/ee/ci/yaml/#job-keywords */
import { parseDuration } from '../duration.ts';
import { type Hash, isHash } from '../yaml/values.ts';
import { type Artifacts, artifacts, type Cache, caches } from './artifacts.ts';
import { type Policy, policy, type Rule, rules, startIn } from './conditions.ts';
import {
  dependencies,
  type Environment,
  environment,
  type Needs,
  needs,
  type Release,
  release,
  type Trigger,
  trigger,
} from './deliveries.ts';
import { type Image, image, type Service, services } from './images.ts';
import { type Parallel, parallel } from './parallel.ts';
import { type Entry, flag, isCount, isFlag, isText, isTexts, type Problems } from './problems.ts';
import { script } from './scripts.ts';
import { type Inherited, type VariableTexts, variables } from './variables.ts';

const WHENS = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const;
export type When = (typeof WHENS)[number];

/** What a job has from `default` where it says nothing itself. */
export interface Defaults {
  readonly beforeScript?: readonly string[];
  readonly afterScript?: readonly string[];
  readonly image?: Image;
  readonly services?: readonly Service[];
  readonly cache?: readonly Cache[];
  readonly artifacts?: Artifacts;
  readonly retry?: Retry;
  readonly tags?: readonly string[];
  /** Seconds. */
  readonly timeout?: number;
  readonly interruptible?: boolean;
}

export interface Retry {
  readonly max: number;
  readonly when: readonly string[];
}

export interface Job extends Defaults {
  readonly name: string;
  readonly stage: string;
  /** Absent for a job that starts a pipeline. */
  readonly script?: readonly string[];
  readonly trigger?: Trigger;
  readonly when: When;
  /** Seconds that a delayed job waits. */
  readonly startIn?: number;
  /** Absent where nothing was said: then manual jobs may fail. */
  readonly allowFailure?: boolean;
  /** Codes with which the script may end without failing the pipeline. */
  readonly allowedExitCodes?: readonly number[];
  readonly variables: VariableTexts;
  /** Which of the pipeline's variables are for the job. */
  readonly inheritsVariables: Inherited;
  readonly rules?: readonly Rule[];
  readonly only?: Policy;
  readonly except?: Policy;
  readonly needs?: Needs;
  readonly dependencies?: readonly string[];
  readonly environment?: Environment;
  readonly release?: Release;
  readonly parallel?: Parallel;
  /** The source of the pattern that finds the coverage in the trace. */
  readonly coverage?: string;
  readonly resourceGroup?: string;
  /** What a runner alone reads. */
  readonly passedOn?: Hash;
}

const MAX_NAME = 255;
const MAX_TAGS = 50;
const MIN_TIMEOUT = 10;
/** Seconds: a month. */
const MAX_TIMEOUT = 30 * 24 * 3600;

const RETRY_WHENS = [
  'always',
  'unknown_failure',
  'script_failure',
  'api_failure',
  'stuck_or_timeout_failure',
  'runner_system_failure',
  'runner_unsupported',
  'stale_schedule',
  'job_execution_timeout',
  'archived_failure',
  'unmet_prerequisites',
  'scheduler_failure',
  'data_integrity_failure',
];

const retry: Entry<Retry> = (value, path, problems) => {
  if (isCount(value)) return isRetries(value, path, problems) ? { max: value, when: ['always'] } : undefined;
  if (!isHash(value)) return problems.add(path, 'has to be either an integer or a hash');
  if (!problems.keys(path, value, ['max', 'when', 'exit_codes'])) return undefined;
  const { max, when } = value;
  if (max !== undefined && !isCount(max)) return problems.add(path, 'max is not a number');
  if (max !== undefined && !isRetries(max, path, problems)) return undefined;
  const reasons = isText(when) ? [when] : (when ?? ['always']);
  if (!isTexts(reasons)) return problems.add(path, 'when should be an array of strings or a string');
  const unknown = reasons.filter((reason) => !RETRY_WHENS.includes(reason));
  if (unknown.length > 0) return problems.add(path, `when contains unknown values: ${unknown.join(', ')}`);
  return { max: max ?? 0, when: reasons };
};

function isRetries(max: number, path: string, problems: Problems): boolean {
  if (max < 0) problems.add(path, 'max must be greater than or equal to 0');
  else if (max > 2) problems.add(path, 'max must be less than or equal to 2');
  else return true;
  return false;
}

const tags: Entry<readonly string[]> = (value, path, problems) => {
  if (!isTexts(value)) return problems.add(path, 'config should be an array of strings');
  return value.length < MAX_TAGS
    ? [...new Set(value)]
    : problems.add(path, `config must be less than the limit of ${MAX_TAGS} tags`);
};

const timeout: Entry<number> = (value, path, problems) => {
  const seconds = isText(value) || isCount(value) ? parseDuration(String(value)) : undefined;
  if (seconds === undefined) return problems.add(path, 'config should be a duration');
  if (seconds < MIN_TIMEOUT) return problems.add(path, 'config should be a duration');
  return seconds <= MAX_TIMEOUT ? seconds : problems.add(path, 'config should not exceed the limit');
};

/** The pattern, without its slashes. */
const coverage: Entry<string> = (value, path, problems) => {
  const [, source] = (isText(value) && /^\/(.+)\/$/s.exec(value)) || [];
  return source ?? problems.add(path, 'config must be a regular expression');
};

/** Keywords that may stand in `default` and in a job, and what they are here. */
const INHERITED = {
  before_script: ['beforeScript', script],
  after_script: ['afterScript', script],
  image: ['image', image],
  services: ['services', services],
  cache: ['cache', caches],
  artifacts: ['artifacts', artifacts],
  retry: ['retry', retry],
  tags: ['tags', tags],
  timeout: ['timeout', timeout],
  interruptible: ['interruptible', flag],
} as const satisfies Record<string, readonly [keyof Defaults, Entry<unknown>]>;

type Keyword = keyof typeof INHERITED;
export const DEFAULT_KEYWORDS = Object.keys(INHERITED) as readonly Keyword[];

/** Those of a hash that may come from `default`. */
export function inheritedOf(given: Hash, path: string, problems: Problems): Defaults {
  const found: Record<string, unknown> = {};
  for (const keyword of DEFAULT_KEYWORDS) {
    if (given[keyword] == null || !Object.hasOwn(given, keyword)) continue;
    const [name, entry] = INHERITED[keyword];
    const value = entry(given[keyword], `${path}:${keyword}`, problems);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Keywords that only a runner reads, or that other releases know. */
const PASSED_ON = [
  'secrets',
  'id_tokens',
  'hooks',
  'dast_configuration',
  'pages',
  'publish',
  'identity',
] as const;

const COMMON = [
  ...[
    'extends',
    'stage',
    'type',
    'only',
    'except',
    'rules',
    'variables',
    'inherit',
    'allow_failure',
    'when',
    'needs',
  ],
  ...['resource_group', 'start_in', 'parallel', 'environment', 'interruptible'],
];
const BUILD_KEYS = [
  ...COMMON,
  ...['script', 'dependencies', 'coverage', 'release', ...PASSED_ON, ...DEFAULT_KEYWORDS],
];
const BRIDGE_KEYS = [...COMMON, 'trigger'];

/** @param defaults what `default` says */
export function jobOf(name: string, given: unknown, defaults: Defaults, problems: Problems): Job | undefined {
  const path = `jobs:${name}`;
  if (!isHash(given) || (given['script'] == null && given['trigger'] == null && !hasBridgeNeed(given)))
    return problems.add(path, 'config should implement a script: or a trigger: keyword');
  if (name.length > MAX_NAME)
    return problems.add(path, `name is too long (maximum is ${MAX_NAME} characters)`);
  const isBridge = given['script'] == null;
  if (!problems.keys(path, given, isBridge ? BRIDGE_KEYS : BUILD_KEYS)) return undefined;
  const before = problems.messages.length;
  const at = <T>(keyword: string, entry: Entry<T>): T | undefined =>
    given[keyword] == null ? undefined : entry(given[keyword], `${path}:${keyword}`, problems);

  const extending = given['extends'];
  if (extending != null && !isText(extending) && !isTexts(extending))
    problems.add(path, 'extends should be an array of strings or a string');
  const hasRules = given['rules'] != null;
  const contrary = ['only', 'except', 'start_in'].filter((key) => hasRules && given[key] != null);
  if (contrary.length > 0)
    problems.add(path, `config key may not be used with \`rules\`: ${contrary.join(', ')}`);
  const stage = given['stage'] ?? given['type'] ?? 'test';
  if (!isText(stage)) problems.add(`${path}:stage`, 'config should be a string');
  const when = given['when'] ?? 'on_success';
  const whens: readonly string[] = isBridge ? WHENS.filter((known) => known !== 'delayed') : WHENS;
  if (!isText(when) || !whens.includes(when))
    problems.add(path, `when should be one of: ${whens.join(', ')}`);
  const delay = hasRules ? undefined : startIn(given['start_in'], String(when), path, problems);
  const inherit = inheritOf(given['inherit'], `${path}:inherit`, problems);
  const failure = allowFailureOf(given['allow_failure'], path, problems);
  const group = given['resource_group'];
  if (group != null && !isText(group)) problems.add(path, 'resource group should be a string');
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((key) => (given[key] == null ? [] : [[key, given[key]]])),
  );
  const inherited = isBridge ? {} : inheritedFrom(defaults, inherit.defaults);
  const job: Job = {
    name,
    stage: String(stage),
    ...inherited,
    ...(isBridge ? {} : inheritedOf(given, path, problems)),
    when: when as When,
    ...(delay !== undefined && { startIn: delay }),
    ...failure,
    variables: at('variables', variables) ?? {},
    inheritsVariables: inherit.variables,
    ...withValue('script', isBridge ? undefined : at('script', script)),
    ...withValue('trigger', isBridge ? at('trigger', trigger) : undefined),
    ...withValue('rules', at('rules', rules())),
    ...withValue('only', at('only', policy)),
    ...withValue('except', at('except', policy)),
    ...withValue('needs', at('needs', needs(isBridge))),
    ...withValue('dependencies', at('dependencies', dependencies)),
    ...withValue('environment', at('environment', environment)),
    ...withValue('release', at('release', release)),
    ...withValue('parallel', at('parallel', parallel)),
    ...withValue('coverage', at('coverage', coverage)),
    ...withValue('interruptible', at('interruptible', flag)),
    ...(isText(group) && { resourceGroup: group }),
    ...(Object.keys(passedOn).length > 0 && { passedOn }),
  };
  const missing =
    job.needs && job.dependencies?.filter((name) => !job.needs!.jobs.some((need) => need.job === name));
  if (missing !== undefined && missing.length > 0)
    problems.add(path, `dependencies the ${missing.join(', ')} should be part of needs`);
  return problems.messages.length === before ? job : undefined;
}

const withValue = <K extends string, T>(key: K, value: T | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: T };

function hasBridgeNeed({ needs: given }: Hash): boolean {
  const list = Array.isArray(given) ? given : [given];
  return list.some((item) => isHash(item) && item['pipeline'] !== undefined && item['job'] === undefined);
}

function inheritedFrom(defaults: Defaults, inherits: Inherited): Defaults {
  if (inherits === true) return defaults;
  const found: Record<string, unknown> = {};
  for (const keyword of DEFAULT_KEYWORDS) {
    const [name] = INHERITED[keyword];
    if (inherits !== false && inherits.includes(keyword) && defaults[name] !== undefined)
      found[name] = defaults[name];
  }
  return found;
}

function inheritOf(
  given: unknown,
  path: string,
  problems: Problems,
): { readonly defaults: Inherited; readonly variables: Inherited } {
  const all = { defaults: true, variables: true };
  if (given == null) return all;
  if (!isHash(given)) {
    problems.add(path, 'config should be a hash');
    return all;
  }
  if (!problems.keys(path, given, ['default', 'variables'])) return all;
  const part = (key: 'default' | 'variables'): Inherited => {
    const value = given[key] ?? true;
    if (isFlag(value) || isTexts(value)) return value;
    problems.add(`${path}:${key}`, 'should be a bool or array of strings');
    return true;
  };
  return { defaults: part('default'), variables: part('variables') };
}

function allowFailureOf(
  given: unknown,
  path: string,
  problems: Problems,
): Pick<Job, 'allowFailure' | 'allowedExitCodes'> {
  if (given == null) return {};
  if (isFlag(given)) return { allowFailure: given };
  const codes = isHash(given) ? [given['exit_codes']].flat() : [];
  if (
    codes.length === 0 ||
    !codes.every(isCount) ||
    !problems.keys(`${path}:allow_failure`, given as Hash, ['exit_codes'])
  ) {
    problems.add(path, 'allow failure should be a hash or a boolean value');
    return {};
  }
  return { allowFailure: false, allowedExitCodes: codes };
}
