import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The part of big.js used here: exact decimal arithmetic. https://mikemcl.github.io/big.js/ */
export interface DecimalNumber {
  /** Digits of the coefficient. */
  c: number[];
  /** Exponent. */
  e: number;
  cmp(other: string): -1 | 0 | 1;
  plus(other: string): DecimalNumber;
  minus(other: string): DecimalNumber;
  /** Without an exponent: `0.000001`. */
  toFixed(): string;
}

/** Attribute values of type N have up to 38 digits, more than a double holds. */
export const Decimal: new (value: string) => DecimalNumber = require('big.js');
