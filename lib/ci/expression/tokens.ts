/** The words of the language of `rules:if` and `only:variables`. */
import { ConfigError } from '../errors.ts';

export type Operator = '==' | '!=' | '=~' | '!~' | '&&' | '||';

export type Token =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string; readonly flags: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'operator'; readonly operator: Operator }
  | { readonly kind: '(' }
  | { readonly kind: ')' };

const TOKEN = new RegExp(
  [
    String.raw`\s+`,
    String.raw`\$(?<variable>[A-Za-z_]\w*)`,
    '"(?<double>[^"]*)"',
    "'(?<single>[^']*)'",
    String.raw`/(?<pattern>(?:\\.|[^/\\])+)/(?<flags>[ismU]*)`,
    String.raw`(?<null>null)\b`,
    String.raw`(?<operator>==|!=|=~|!~|&&|\|\|)`,
    '(?<paren>[()])',
  ].join('|'),
  'y',
);

const MAX_TOKENS = 1000;

export const invalidExpression = () => new ConfigError('invalid expression syntax');

/** @throws ConfigError for anything else than these words */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const groups = TOKEN.exec(source)?.groups;
    if (groups === undefined || tokens.length >= MAX_TOKENS) throw invalidExpression();
    const token = tokenOf(groups);
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): Token | undefined {
  const { variable, double, single, pattern, flags = '', operator, paren } = groups;
  if (variable !== undefined) return { kind: 'variable', name: variable };
  const text = double ?? single;
  if (text !== undefined) return { kind: 'text', text };
  if (pattern !== undefined) return { kind: 'pattern', source: pattern, flags };
  if (groups['null'] !== undefined) return { kind: 'null' };
  if (operator !== undefined) return { kind: 'operator', operator: operator as Operator };
  return paren === undefined ? undefined : paren === '(' ? { kind: '(' } : { kind: ')' };
}
