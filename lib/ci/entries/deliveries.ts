/** What a job does beside its script: environments, releases, and pipelines that it starts. */
import { parseDuration } from '../duration.ts';
import { environmentNameProblem } from '../environment-names.ts';
import { type Hash, isHash, valueAt } from '../yaml/values.ts';
import { type Entry, fields, hash, isText, isTexts, oneOf, type Problems, text, texts } from './problems.ts';

const ACTIONS = ['start', 'stop', 'prepare', 'verify', 'access'] as const;
const TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const;

export interface Environment {
  /** Before its variables are put in, as the URL. */
  readonly name: string;
  readonly url?: string;
  readonly action: (typeof ACTIONS)[number];
  readonly on_stop?: string;
  /** A length of time such as `1 week`. */
  readonly auto_stop_in?: string;
  readonly deployment_tier?: (typeof TIERS)[number];
  readonly kubernetes?: Hash;
}

export interface Release {
  readonly tag_name: string;
  readonly description: string;
  readonly name?: string;
  readonly ref?: string;
  readonly tag_message?: string;
  readonly milestones?: readonly string[];
  readonly released_at?: string;
  readonly assets?: Hash;
}

/** A pipeline that a job starts: one of this project from files, or one of another project. */
export interface Trigger {
  readonly project?: string;
  readonly branch?: string;
  /** Whether the job waits for the pipeline, and ends as it does. */
  readonly strategy?: 'depend';
  /** Files of a child pipeline, as in `include`. */
  readonly include?: readonly Hash[];
  readonly forward?: { readonly yaml_variables?: boolean; readonly pipeline_variables?: boolean };
}

const MAX_INCLUDES = 3;

const environmentFields = fields({
  name: text,
  url: (value, path, problems) =>
    isText(value) && value.length <= 255 ? value : problems.add(path, 'should be a string'),
  action: oneOf(ACTIONS),
  on_stop: text,
  auto_stop_in: (value, path, problems) =>
    parseDuration(String(value)) === undefined ? problems.add(path, 'should be a duration') : String(value),
  deployment_tier: oneOf(TIERS),
  kubernetes: hash,
} satisfies Record<string, Entry<unknown>>);

export const environment: Entry<Environment> = (value, path, problems) => {
  const found = isText(value) ? { name: value } : environmentFields(value, path, problems);
  if (found === undefined) return undefined;
  const { name } = found;
  if (name === undefined || name === '') return problems.add(path, "name can't be blank");
  if (name.length > 255) return problems.add(path, 'name is too long (maximum is 255 characters)');
  const problem = environmentNameProblem(name);
  if (problem !== undefined) return problems.add(path, `name ${problem}`);
  return { ...found, name, action: found.action ?? 'start' } as Environment;
};

const releaseFields = fields({
  tag_name: text,
  tag_message: text,
  description: text,
  name: text,
  ref: text,
  milestones: (value: unknown, path: string, problems: Problems) =>
    isText(value) ? [value] : texts(value, path, problems),
  released_at: text,
  assets: (value: unknown, path: string, problems: Problems) => {
    if (!isHash(value)) return problems.add(path, 'config should be a hash');
    if (!problems.keys(path, value, ['links'])) return undefined;
    const links = value['links'] ?? [];
    const fit = (link: unknown) => isHash(link) && isText(link['name']) && isText(link['url']);
    return Array.isArray(links) && links.every(fit)
      ? value
      : problems.add(`${path}:links`, 'config should be an array of hashes with name and url');
  },
});

export const release: Entry<Release> = (value, path, problems) => {
  const found = releaseFields(value, path, problems);
  if (found === undefined) return undefined;
  for (const key of ['tag_name', 'description'] as const)
    if (!found[key]) return problems.add(path, `${key.replace('_', ' ')} can't be blank`);
  return found as Release;
};

export const trigger: Entry<Trigger> = (value, path, problems) => {
  if (isText(value)) return { project: value };
  if (!isHash(value)) return problems.add(path, 'has to be either a string or a hash');
  const include = valueAt(value, 'include');
  if (include !== undefined && valueAt(value, 'project') !== undefined)
    return problems.add(path, 'config contains unknown keys: project');
  const known =
    include === undefined ? ['project', 'branch', 'strategy', 'forward'] : ['include', 'strategy', 'forward'];
  if (!problems.keys(path, value, known)) return undefined;
  const { project, branch, strategy, forward } = value as Partial<Record<string, unknown>>;
  if (include === undefined && !isText(project)) return problems.add(path, "project can't be blank");
  if (branch != null && !isText(branch)) return problems.add(path, 'branch should be a string');
  if (strategy != null && strategy !== 'depend') return problems.add(path, 'strategy should be depend');
  const files = include === undefined ? undefined : includesOf(include, `${path}:include`, problems);
  if (include !== undefined && files === undefined) return undefined;
  const passed = forward == null ? undefined : forwardFields(forward, `${path}:forward`, problems);
  return {
    ...(isText(project) && { project }),
    ...(isText(branch) && { branch }),
    ...(strategy === 'depend' && { strategy }),
    ...(files && { include: files }),
    ...(passed && { forward: passed }),
  };
};

const aFlag: Entry<boolean> = (value, path, problems) =>
  typeof value === 'boolean' ? value : problems.add(path, 'should be a boolean value');
const forwardFields = fields({ yaml_variables: aFlag, pipeline_variables: aFlag });

/** Each as a hash that says where the file is. */
function includesOf(given: unknown, path: string, problems: Problems): readonly Hash[] | undefined {
  const list = Array.isArray(given) ? given : [given];
  if (list.length > MAX_INCLUDES)
    return problems.add(path, `config is too long (maximum is ${MAX_INCLUDES})`);
  const files = list.map((item) =>
    isText(item)
      ? { [/^https?:\/\//.test(item) ? 'remote' : 'local']: item }
      : isHash(item)
        ? item
        : undefined,
  );
  if (files.includes(undefined)) return problems.add(path, 'config should be a hash or a string');
  if (files.some((file) => file?.['artifact'] != null && !isText(file['job'])))
    return problems.add(path, 'config must specify the job where to fetch the artifact from');
  return files as readonly Hash[];
}

/** A job that must have ended before this one starts. */
interface Need {
  readonly job: string;
  /** Whether its artifacts are fetched. */
  readonly artifacts: boolean;
  /** Whether it may be missing in the pipeline. */
  readonly optional: boolean;
}

/** Artifacts of a job of another pipeline. */
export interface CrossNeed {
  readonly project?: string;
  readonly ref?: string;
  /** Id of a pipeline of the same project, or a variable that holds it. */
  readonly pipeline?: string;
  readonly job: string;
  readonly artifacts: boolean;
}

export interface Needs {
  readonly jobs: readonly Need[];
  readonly cross: readonly CrossNeed[];
  /** `needs:pipeline` of a job that takes over the status of another project's pipeline. */
  readonly bridge?: string;
}

const MAX_CROSS = 5;

/** @param isBridge whether the job starts a pipeline, or takes over the status of one */
export const needs =
  (isBridge: boolean): Entry<Needs> =>
  (value, path, problems) => {
    const list = Array.isArray(value) ? value : isBridge && isHash(value) ? [value] : undefined;
    if (list === undefined) return problems.add(path, 'config can only be a hash or an array');
    const jobs: Need[] = [];
    const cross: CrossNeed[] = [];
    let bridge: string | undefined;
    for (const item of list) {
      const given = isText(item) ? { job: item } : item;
      if (!isHash(given)) return problems.add(`${path}:need`, 'has an unsupported type');
      const {
        job,
        artifacts = true,
        optional = false,
        project,
        ref,
        pipeline,
      } = given as Partial<Record<string, unknown>>;
      const known = ['job', 'artifacts', 'optional', 'project', 'ref', 'pipeline'];
      if (!problems.keys(`${path}:need`, given, known)) return undefined;
      if (typeof artifacts !== 'boolean' || typeof optional !== 'boolean')
        return problems.add(`${path}:need`, 'artifacts should be a boolean value');
      if (isText(pipeline) && job === undefined) {
        if (!isBridge) return problems.add(path, 'config uses invalid types: bridge');
        if (bridge !== undefined)
          return problems.add(path.replace(/:needs$/, ''), 'config should contain exactly one bridge need');
        bridge = pipeline;
      } else if (!isText(job) || job === '') return problems.add(`${path}:need`, "job can't be blank");
      else if (isText(project) || isText(pipeline)) {
        if (isText(project) && !isText(ref)) return problems.add(`${path}:need`, "ref can't be blank");
        cross.push({
          ...(isText(project) && { project, ref: String(ref) }),
          ...(isText(pipeline) && { pipeline }),
          job,
          artifacts,
        });
      } else jobs.push({ job, artifacts, optional });
    }
    if (isBridge && bridge === undefined && list.length > 0 && cross.length > 0)
      return problems.add(path, 'config uses invalid types: cross_dependency');
    if (cross.length > MAX_CROSS)
      return problems.add(path, `config must be less than or equal to ${MAX_CROSS}`);
    const names = jobs.map(({ job }) => job);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) return problems.add(path, `config has duplicate entries: ${twice}`);
    return { jobs, cross, ...(bridge === undefined ? {} : { bridge }) };
  };

export const dependencies: Entry<readonly string[]> = (value, path, problems) =>
  isTexts(value)
    ? value
    : problems.add(path.replace(/:dependencies$/, ''), 'dependencies should be an array of strings');
