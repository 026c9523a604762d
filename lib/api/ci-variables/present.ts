import type { CiVariable } from '../../records/ci-variables.ts';

/** A variable of one pipeline, or of the pipelines of a schedule. */
export const plainVariable = ({ type, key, value }: Pick<CiVariable, 'type' | 'key' | 'value'>) => ({
  variable_type: type,
  key,
  value,
});

export const instanceVariable = (variable: CiVariable) => ({
  ...plainVariable(variable),
  protected: variable.protected,
  masked: variable.masked,
  raw: variable.raw,
});

export const scopedVariable = (variable: CiVariable) => ({
  ...instanceVariable(variable),
  environment_scope: variable.environmentScope,
});
