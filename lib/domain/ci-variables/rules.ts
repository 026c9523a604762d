/** What variables may be called and hold. */

import type { CiVariable } from '../../records/ci-variables.ts';
import type { FieldProblems } from '../errors.ts';

const MAX_KEY = 255;
const MAX_SCOPE = 255;
/** Characters. */
const MAX_VALUE = 10_000;

/** A value that a runner can hide in a trace: one line, without blanks and escapes, and long enough to be no common word. */
const MASKABLE = /^[a-zA-Z0-9_+=/@:.~-]{8,}$/;
const SCOPE = /^[a-zA-Z0-9_/\\${}. *-]+$/;

const tooLong = (max: number) => `is too long (maximum is ${max} characters)`;

export const keyProblems = (key: string): string[] => [
  ...(key === '' ? ["can't be blank"] : []),
  ...(key.length > MAX_KEY ? [tooLong(MAX_KEY)] : []),
  ...(/^\w*$/.test(key) ? [] : ["can contain only letters, digits and '_'."]),
];

export const valueProblems = ({ value, masked }: Pick<CiVariable, 'value' | 'masked'>): string[] => [
  ...(value.length > MAX_VALUE
    ? [`The value of the provided variable exceeds the ${MAX_VALUE} character limit`]
    : []),
  ...(masked && !MASKABLE.test(value) ? ['is invalid'] : []),
];

/** @returns problems by field; none: it may be stored */
export function variableProblems(
  variable: Pick<CiVariable, 'key' | 'value' | 'masked' | 'environmentScope'>,
): FieldProblems | undefined {
  const { environmentScope: scope } = variable;
  const problems = {
    key: keyProblems(variable.key),
    value: valueProblems(variable),
    environment_scope: [
      ...(scope.trim() === '' ? ["can't be blank"] : []),
      ...(scope.length > MAX_SCOPE ? [tooLong(MAX_SCOPE)] : []),
      ...(scope === '' || SCOPE.test(scope)
        ? []
        : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]),
    ],
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
