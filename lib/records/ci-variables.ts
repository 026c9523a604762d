/** What a variable belongs to, and who gets it: all jobs, those of a group's or a project's, of one schedule's pipelines. */
export type VariableOwner =
  | { readonly kind: 'instance' }
  | { readonly kind: 'group' | 'project' | 'schedule'; readonly id: number };

export const VARIABLE_TYPES = ['env_var', 'file'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** The scope of every environment, and of jobs without one. */
export const ANY_ENVIRONMENT = '*';

/** A variable that jobs get. Its value is stored sealed. */
export interface CiVariable {
  readonly id: number;
  readonly owner: VariableOwner;
  /** At most 255 of `A-Za-z0-9_`; unique with its scope. */
  readonly key: string;
  readonly value: string;
  /** `file`: jobs get the path of a file with the value. */
  readonly type: VariableType;
  /** Only jobs of protected branches and tags get it. */
  readonly protected: boolean;
  /** Traces hide it. */
  readonly masked: boolean;
  /** References to other variables in the value stay text. */
  readonly raw: boolean;
  /** Name of an environment, with `*` for any characters. */
  readonly environmentScope: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
