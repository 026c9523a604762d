/** The kinds of settings, and the validation of their values with the messages of model validations. */

import type { PatternOptions } from '../../regexp/user-pattern.ts';
import type { SettingValue } from '../../store/settings/settings.ts';

export interface Attribute {
  /** A `decimal` is a number that responses tell as text. */
  readonly type: 'boolean' | 'integer' | 'number' | 'decimal' | 'string' | 'list' | 'weights' | 'secret';
  /** Value until the first change; absent for settings that have an effect, whose defaults are in `defaults.ts`. */
  readonly default?: SettingValue;
  /** The value can be long: unless it has an effect, it is stored apart from the row that every process reads. */
  readonly large?: true;
  /** Null, or an empty string for texts, clears the setting. */
  readonly nullable: boolean;
  /** Allowed values, which the parameter itself checks. */
  readonly values?: readonly (string | number)[];
  /** Validates a value of the type. Returns an error message without its subject. */
  readonly problem?: (value: never) => string | undefined;
  /** The text is a regular expression, compiled with these options. `patternProblem` validates it. */
  readonly pattern?: PatternOptions;
}

export interface DescribedAttribute extends Attribute {
  /** Meaning and unit for the API documentation. */
  readonly description: string;
}

export const described = (description: string, attribute: Attribute): DescribedAttribute => ({
  ...attribute,
  description,
});

interface Defaulted<T extends SettingValue> {
  readonly default?: T | null;
  readonly nullable?: boolean;
}
interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** Exclusive lower bound. */
  readonly above?: number;
}

/** Maximum length in characters of a line, a text, all entries of a list, and a secret. */
const MAX_LINE = 255;
const MAX_TEXT = 20_000;
const MAX_LIST_TEXT = 32_000;
const MAX_SECRET = 16_384;

const tooLong = (max: number) => `is too long (maximum is ${max} characters)`;

export const bool = (value?: boolean): Attribute => ({
  type: 'boolean',
  nullable: false,
  ...(value === undefined ? {} : { default: value }),
});

/** An integer, by default at least 0. */
export const int = (
  options: Defaulted<number> & Bounds & { readonly values?: readonly number[] } = {},
): Attribute => numeric('integer', { min: 0, ...options });

export const float = (options: Defaulted<number> & Bounds): Attribute => numeric('number', options);

/** A number that responses tell as text, `"1.0"`, as clients expect of columns of exact decimals. */
export const decimal = (options: Defaulted<number> & Bounds): Attribute => numeric('decimal', options);

function numeric(
  type: 'integer' | 'number' | 'decimal',
  options: Defaulted<number> & Bounds & { readonly values?: readonly number[] },
): Attribute {
  const { min, max, above, values } = options;
  return {
    ...base(type, options),
    ...(values === undefined ? {} : { values }),
    problem: (value: number) => {
      if (above !== undefined && value <= above) return `must be greater than ${above}`;
      if (above === undefined && min !== undefined && value < min)
        return `must be greater than or equal to ${min}`;
      if (value > (max ?? MAX_INTEGER)) return `must be less than or equal to ${max ?? MAX_INTEGER}`;
      return undefined;
    },
  };
}
/** Maximum of a 32-bit integer. */
const MAX_INTEGER = 2_147_483_647;

/** One line of text, by default null. */
export const line = (options: Defaulted<string> & Check & { readonly max?: number } = {}): Attribute =>
  textual({ max: MAX_LINE, ...options });

/** Several lines of text. */
export const text = (options: Defaulted<string> & Check & { readonly max?: number } = {}): Attribute => ({
  ...textual({ max: MAX_TEXT, ...options }),
  large: true,
});

/** A regular expression. */
export const pattern = (options: PatternOptions = {}): Attribute => ({
  ...text({ max: 1000 }),
  pattern: options,
});

interface Check {
  readonly check?: (value: string) => string | undefined;
}

function textual(options: Defaulted<string> & Check & { readonly max: number }): Attribute {
  return {
    ...base('string', { nullable: true, ...options, default: options.default ?? null }),
    problem: (value: string) =>
      value.length > options.max ? tooLong(options.max) : value === '' ? undefined : options.check?.(value),
  };
}

/** A setting that has an effect: its default is in `defaults.ts`. */
export function obeyed(attribute: Attribute): Attribute {
  const { default: _, ...withoutDefault } = attribute;
  return withoutDefault;
}

export const url = (options: Defaulted<string> = {}): Attribute =>
  line({ ...options, check: (value) => (isHttpUrl(value) ? undefined : 'must be a valid URL') });

export const hostname = (options: Defaulted<string> = {}): Attribute =>
  line({ ...options, check: (value) => (HOSTNAME.test(value) ? undefined : 'is not a valid hostname') });
const HOSTNAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** One of several words. */
export const word = (values: readonly string[], options: Defaulted<string> = {}): Attribute => ({
  ...base('string', options),
  values,
});

interface ListOptions extends Check {
  readonly default?: readonly string[];
  readonly max?: number;
}

/** A list of strings. Parameters also accept one string with commas, spaces or line breaks between the entries. */
export function list(options: ListOptions = {}): Attribute {
  const max = options.max ?? 1000;
  return {
    ...base('list', { nullable: true, ...(options.default && { default: options.default }) }),
    large: true,
    problem: (value: readonly string[]) => {
      if (value.length > max) return `is too long (maximum is ${max} entries)`;
      if (value.some((entry) => entry.length > MAX_LINE)) return tooLong(MAX_LINE);
      if (value.reduce((sum, entry) => sum + entry.length, 0) > MAX_LIST_TEXT) return tooLong(MAX_LIST_TEXT);
      for (const entry of value) {
        const problem = options.check?.(entry);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}

/** Integer weights by name. */
export const weights = (value: Readonly<Record<string, number>>): Attribute => ({
  type: 'weights',
  nullable: false,
  default: value,
});

/** A write-only text, stored encrypted. */
export const secret = (): Attribute => ({
  type: 'secret',
  nullable: true,
  problem: (value: string) => (value.length > MAX_SECRET ? tooLong(MAX_SECRET) : undefined),
});

function base(
  type: Attribute['type'],
  options: Defaulted<SettingValue>,
): Pick<Attribute, 'type' | 'nullable' | 'default'> {
  return {
    type,
    nullable: options.nullable ?? options.default === null,
    ...(options.default === undefined ? {} : { default: options.default }),
  };
}

export function isHttpUrl(value: string): boolean {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  return parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.hostname !== '';
}
