/** What a pipeline is made of: the jobs of a configuration that its ref, source and variables ask for. */
import { inTurns, Pace, type Steps } from '../git/work.ts';
import type { Config } from './config.ts';
import type { Rule } from './entries/conditions.ts';
import type { CrossNeed } from './entries/deliveries.ts';
import type { Job, When } from './entries/job.ts';
import { jobsOf } from './entries/parallel.ts';
import type { VariableTexts } from './entries/variables.ts';
import { ConfigError } from './errors.ts';
import { firstRule, isSelected, type RefConditions } from './rules.ts';
import type { Variables } from './variables.ts';
import { OF_FILE, tooBig } from './yaml/values.ts';

export interface PlannedJob
  extends Omit<Job, 'parallel' | 'rules' | 'only' | 'except' | 'needs' | 'variables'> {
  readonly when: When;
  readonly allowFailure: boolean;
  /** The configuration's variables of the pipeline, the job and its rule, the later over the earlier. */
  readonly variables: VariableTexts;
  /** Position of its stage among those of the pipeline, from 0. */
  readonly stageIndex: number;
  /** Names of jobs of this plan; undefined: the job waits for the stages before. */
  readonly needs: readonly { readonly job: string; readonly artifacts: boolean }[] | undefined;
  readonly crossNeeds: readonly CrossNeed[];
  /** A project whose pipeline's status it takes over. */
  readonly upstream?: string;
}

export interface Plan {
  /** Those that have jobs. */
  readonly stages: readonly string[];
  readonly jobs: readonly PlannedJob[];
  /** Variables of the configuration that belong to the whole pipeline. */
  readonly variables: VariableTexts;
}

/** Jobs of a pipeline. */
const MAX_PLANNED = 2000;
/** Variables of all jobs together, and what all need. */
const MAX_PARTS = 200_000;
/** Characters of all jobs together: what they have from `default` and from the pipeline's variables counts for each. */
const MAX_CHARACTERS = 50_000_000;

/** No pipeline is made. The message says why; for a push it is no failure. */
export class NoPipeline extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoPipeline';
  }
}

const DEFAULT_ONLY = { refs: ['branches', 'tags'] };

/**
 * Selects the jobs of a pipeline.
 * @throws NoPipeline where the configuration wants none here; ConfigError where jobs that were selected need others
 */
export async function planPipeline(config: Config, given: RefConditions): Promise<Plan> {
  // What the caller, the project and the server set counts more than the file.
  const withGiven = (own: VariableTexts): Variables => new Map([...Object.entries(own), ...given.variables]);
  const conditions: RefConditions = { ...given, variables: withGiven(config.variables) };
  const workflow = await workflowRule(config, conditions);
  const variables = { ...config.variables, ...workflow?.variables };
  const selected: PlannedJob[] = [];
  const pace = new Pace();
  const lengths = new Lengths();
  let size = 0;
  let characters = 0;
  for (const job of config.jobs.values()) {
    if (pace.due()) await pace.rest();
    const own = { ...inherited(variables, job), ...job.variables };
    const asked = { ...conditions, variables: withGiven(own) };
    const choice = await choiceOf(job, asked, config.workflow !== undefined);
    if (choice === undefined) continue;
    for (const planned of plannedOf(job, choice, own)) {
      selected.push(planned);
      size += Object.keys(planned.variables).length;
      const length = lengths.of(planned);
      characters += length;
      if (size > MAX_PARTS || length > OF_FILE.characters || characters > MAX_CHARACTERS) throw tooBig();
    }
    if (selected.length > MAX_PLANNED)
      throw new ConfigError(`The number of jobs exceeds the limit of ${MAX_PLANNED} in a pipeline`);
  }
  if (selected.every(({ stage }) => stage === '.pre' || stage === '.post'))
    throw new NoPipeline('No stages / jobs for this pipeline.');
  const jobs = await inTurns(withNeeds(selected, config));
  const used = new Set(jobs.map(({ stage }) => stage));
  const stages = config.stages.filter((stage) => used.has(stage));
  const position = new Map(stages.map((stage, i) => [stage, i]));
  return { stages, jobs: jobs.map((job) => ({ ...job, stageIndex: position.get(job.stage)! })), variables };
}

/** Characters of values. What several have in common is looked at once. */
class Lengths {
  readonly #known = new WeakMap<object, number>();

  of(value: unknown): number {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null) return 0;
    let length = this.#known.get(value);
    if (length === undefined) {
      length = 0;
      for (const part of Object.values(value)) length += this.of(part);
      this.#known.set(value, length);
    }
    return length;
  }
}

async function workflowRule({ workflow }: Config, conditions: RefConditions) {
  if (workflow === undefined) return undefined;
  const rule = await firstRule(workflow, conditions);
  if (rule === undefined || rule.when === 'never')
    throw new NoPipeline('Pipeline filtered out by workflow rules.');
  return rule;
}

function inherited(variables: VariableTexts, { inheritsVariables: inherits }: Job): VariableTexts {
  if (inherits === true) return variables;
  if (inherits === false) return {};
  return Object.fromEntries(Object.entries(variables).filter(([name]) => inherits.includes(name)));
}

/** How a job is part of the pipeline; undefined: not at all. */
async function choiceOf(
  job: Job,
  conditions: RefConditions,
  hasWorkflow: boolean,
): Promise<Rule | undefined> {
  if (job.rules !== undefined) {
    const rule = await firstRule(job.rules, conditions);
    return rule === undefined || (rule.when ?? job.when) === 'never' ? undefined : rule;
  }
  // Where a workflow selects pipelines, a job that says nothing is in all of them.
  const only = job.only ?? (hasWorkflow ? {} : DEFAULT_ONLY);
  const whole = job.only !== undefined && job.only.refs === undefined && !hasWorkflow;
  const policy = whole ? { ...DEFAULT_ONLY, ...only } : only;
  return (await isSelected(policy, job.except, conditions)) ? {} : undefined;
}

/** The jobs that one becomes, without what they need. */
function plannedOf(job: Job, rule: Rule, variables: VariableTexts): PlannedJob[] {
  const { parallel, rules: _r, only: _o, except: _e, needs, ...rest } = job;
  const when = (rule.when ?? job.when) as When;
  const { startIn: _s, ...kept } = rest;
  const startIn = rule.when === undefined ? job.startIn : rule.startIn;
  const allowFailure =
    rule.allowFailure ?? job.allowFailure ?? (when === 'manual' && rule.when === undefined);
  const base: PlannedJob = {
    ...kept,
    when,
    ...(startIn !== undefined && { startIn }),
    allowFailure,
    variables: { ...variables, ...rule.variables },
    // Known when all jobs are.
    stageIndex: -1,
    // A job that names a pipeline alone waits for the stages before.
    needs: needs?.bridge !== undefined && needs.jobs.length === 0 ? undefined : needs?.jobs,
    crossNeeds: needs?.cross ?? [],
    ...(needs?.bridge === undefined ? {} : { upstream: needs.bridge }),
  };
  if (parallel === undefined) return [base];
  return jobsOf(job.name, parallel).map(({ name, variables: own }) => ({
    ...base,
    name,
    variables: { ...base.variables, ...own },
  }));
}

/** Names the jobs that are needed as they are named in the pipeline. @throws ConfigError for one that is not in it */
function* withNeeds(selected: readonly PlannedJob[], config: Config): Steps<PlannedJob[]> {
  const names = new Set(selected.map(({ name }) => name));
  /** The jobs that one became, by its name. */
  const present = new Map<string, readonly string[]>();
  const presentOf = (need: string): readonly string[] => {
    const known = present.get(need);
    if (known !== undefined) return known;
    const parallel = config.jobs.get(need)?.parallel;
    const all = parallel === undefined ? [need] : jobsOf(need, parallel).map(({ name }) => name);
    const found = all.filter((name) => names.has(name));
    present.set(need, found);
    return found;
  };
  const messages: string[] = [];
  let count = 0;
  const jobs: PlannedJob[] = [];
  for (const job of selected) {
    yield;
    if (job.needs === undefined) {
      jobs.push(job);
      continue;
    }
    const optional = new Set(
      job.needs.flatMap((need) => ('optional' in need && need.optional === true ? [need.job] : [])),
    );
    const needs = job.needs.flatMap(({ job: need, artifacts }) => {
      const all = presentOf(need);
      count += all.length;
      if (count > MAX_PARTS) throw tooBig();
      if (all.length === 0 && !optional.has(need))
        messages.push(`'${job.name}' job needs '${need}' job, but '${need}' is not in any previous stage`);
      return all.map((name) => ({ job: name, artifacts }));
    });
    jobs.push({ ...job, needs });
  }
  if (messages.length > 0) throw new ConfigError(...messages);
  return jobs;
}
