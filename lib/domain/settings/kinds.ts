/** The kinds of values that settings have, and what is wrong with one, in the words of model validations. */
import type { SettingValue } from '../../store/settings/settings.ts';

export interface Attribute {
  readonly type: 'boolean' | 'integer' | 'number' | 'string' | 'list' | 'weights' | 'secret';
  /** What it is until it is changed; absent where rules obey it, whose defaults are in `defaults.ts`. */
  readonly default?: SettingValue;
  /** It may be long: unless rules obey it, it stands apart from what every process reads. */
  readonly large?: true;
  /** Null, or for texts an empty one, takes it away. */
  readonly nullable: boolean;
  /** The values there are; others break the parameter's own rule. */
  readonly values?: readonly (string | number)[];
  /** What is wrong with a value of the type, as a sentence without its subject. */
  readonly problem?: (value: never) => string | undefined;
}

interface Kept<T extends SettingValue> {
  readonly default?: T | null;
  readonly nullable?: boolean;
}
interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** It must be more than this. */
  readonly above?: number;
}

/** Characters of a single line, of a text, of all entries of a list. */
const LINE = 255;
const TEXT = 20_000;
const LIST_TEXT = 32_000;

/** Nobody reads secrets again by the interface. */
const SECRET_TEXT = 16_384;

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`;

export const bool = (value?: boolean): Attribute => ({
  type: 'boolean',
  nullable: false,
  ...(value === undefined ? {} : { default: value }),
});

/** A whole number, from 0 on when nothing is said. */
export const int = (
  options: Kept<number> & Bounds & { readonly values?: readonly number[] } = {},
): Attribute => numeric('integer', { min: 0, ...options });

export const float = (options: Kept<number> & Bounds): Attribute => numeric('number', options);

function numeric(
  type: 'integer' | 'number',
  options: Kept<number> & Bounds & { readonly values?: readonly number[] },
): Attribute {
  const { min, max, above, values } = options;
  return {
    ...rest(type, options),
    ...(values === undefined ? {} : { values }),
    problem: (value: number) => {
      if (above !== undefined && value <= above) return `must be greater than ${above}`;
      if (above === undefined && min !== undefined && value < min)
        return `must be greater than or equal to ${min}`;
      if (value > (max ?? MOST)) return `must be less than or equal to ${max ?? MOST}`;
      return undefined;
    },
  };
}
/** What a column of such a number holds. */
const MOST = 2_147_483_647;

/** One line of text, null until somebody sets one. */
export const line = (options: Kept<string> & Check & { readonly max?: number } = {}): Attribute =>
  textual({ max: LINE, ...options });

/** Several lines of text. */
export const text = (options: Kept<string> & Check & { readonly max?: number } = {}): Attribute => ({
  ...textual({ max: TEXT, ...options }),
  large: true,
});

interface Check {
  readonly check?: (value: string) => string | undefined;
}

function textual(options: Kept<string> & Check & { readonly max: number }): Attribute {
  return {
    ...rest('string', { nullable: true, ...options, default: options.default ?? null }),
    problem: (value: string) =>
      value.length > options.max ? tooLong(options.max) : value === '' ? undefined : options.check?.(value),
  };
}

/** A text that a rule obeys: its default is in `defaults.ts`. */
export function obeyed(attribute: Attribute): Attribute {
  const { default: _, ...others } = attribute;
  return others;
}

export const url = (options: Kept<string> = {}): Attribute =>
  line({ ...options, check: (value) => (isHttpUrl(value) ? undefined : 'must be a valid URL') });

export const hostname = (options: Kept<string> = {}): Attribute =>
  line({ ...options, check: (value) => (HOSTNAME.test(value) ? undefined : 'is not a valid hostname') });
const HOSTNAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** One of a few words. */
export const word = (values: readonly string[], options: Kept<string> = {}): Attribute => ({
  ...rest('string', options),
  values,
});

interface ListOptions extends Check {
  readonly default?: readonly string[];
  readonly max?: number;
}

/** Texts: a list, or one text with commas, spaces or line breaks between them. */
export function list(options: ListOptions = {}): Attribute {
  const max = options.max ?? 1000;
  return {
    ...rest('list', { nullable: true, ...(options.default && { default: options.default }) }),
    large: true,
    problem: (value: readonly string[]) => {
      if (value.length > max) return `is too long (maximum is ${max} entries)`;
      if (value.some((entry) => entry.length > LINE)) return tooLong(LINE);
      if (value.reduce((sum, entry) => sum + entry.length, 0) > LIST_TEXT) return tooLong(LIST_TEXT);
      for (const entry of value) {
        const problem = options.check?.(entry);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}

/** Shares of each of some names. */
export const weights = (value: Readonly<Record<string, number>>): Attribute => ({
  type: 'weights',
  nullable: false,
  default: value,
});

/** Taken and sealed, and never told again. */
export const secret = (): Attribute => ({
  type: 'secret',
  nullable: true,
  problem: (value: string) => (value.length > SECRET_TEXT ? tooLong(SECRET_TEXT) : undefined),
});

function rest(
  type: Attribute['type'],
  options: Kept<SettingValue>,
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
