/** Variables as jobs get them. */

import type { VariableType } from '../../records/ci-variables.ts';

export interface JobVariable {
  readonly key: string;
  readonly value: string;
  /** Not secret: the service itself or the configuration says it. */
  readonly public: boolean;
  readonly masked: boolean;
  /** The job gets the path of a file with the value. */
  readonly file: boolean;
  /** References in the value stay text. */
  readonly raw: boolean;
}

/** A variable that the service or the configuration says. */
export const said = (key: string, value: string): JobVariable => ({
  key,
  value,
  public: true,
  masked: false,
  file: false,
  raw: false,
});

/** Variables of a configuration, or of a dotenv report. */
export const saidAll = (texts: Readonly<Record<string, string>>): JobVariable[] =>
  Object.entries(texts).map(([key, value]) => said(key, value));

/** A credential of the job. */
export const credential = (key: string, value: string): JobVariable => ({
  ...said(key, value),
  public: false,
  masked: true,
});

/** A variable that somebody gave to the pipeline: by hand, by a schedule, by a trigger. */
export const given = ({
  key,
  value,
  type = 'env_var',
}: {
  readonly key: string;
  readonly value: string;
  readonly type?: VariableType | undefined;
}): JobVariable => ({ ...said(key, value), public: false, file: type === 'file' });

/** Where the variables of a job come from. */
export interface VariableSources {
  /** Of the server, project, pipeline, job and user: see `predefined.ts`. */
  readonly predefined: readonly JobVariable[];
  /** Of what the job deploys with. */
  readonly deployment?: readonly JobVariable[];
  /** `variables` of the whole configuration. */
  readonly global?: readonly JobVariable[];
  /** `variables` of the job, its matrix and its rule. */
  readonly job?: readonly JobVariable[];
  /** Of the dotenv reports of the jobs that it needs. */
  readonly inherited?: readonly JobVariable[];
  /** Of the instance, the groups, the project, in this order: `variablesOf`. */
  readonly configured?: readonly JobVariable[];
  /** Given to the pipeline. */
  readonly given?: readonly JobVariable[];
}

/**
 * The variables of a job, each once: what a person gave to the pipeline counts more than what is configured, that more
 * than what other jobs reported, that more than what the configuration says, and all more than what the service says.
 */
export function jobVariables(sources: VariableSources): JobVariable[] {
  const { predefined, deployment, global, job, inherited, configured, given } = sources;
  const byKey = new Map<string, JobVariable>();
  for (const variables of [predefined, deployment, global, job, inherited, configured, given]) {
    for (const variable of variables ?? []) {
      // A later one stands after those that it may refer to.
      byKey.delete(variable.key);
      byKey.set(variable.key, variable);
    }
  }
  return [...byKey.values()];
}

/** Their texts, for expressions and patterns of the configuration. */
export const textsOf = (variables: readonly JobVariable[]): ReadonlyMap<string, string> =>
  new Map(variables.map(({ key, value }) => [key, value]));
