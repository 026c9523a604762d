import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Data, renderTemplate } from '../../../lib/domain/changelog/render.ts';
import { parseTemplate, TemplateError } from '../../../lib/domain/changelog/template.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

const render = (template: string, data: Data = {}) => renderTemplate(parseTemplate(template), data);

describe('a template renders as documented', () => {
  test.each<[string, Data, string]>([
    ['{% if valid %}\nyes\n{% else %}\nnope\n{% end %}\n', { valid: true }, 'yes\n'],
    ['{% if valid %}\nyes\n{% else %}\nnope\n{% end %}\n', {}, 'nope\n'],
    ['{% each users %}\n{{name}}\n{% end %}\n', { users: [{ name: 'a' }, { name: 'b' }] }, 'a\nb\n'],
    ['{{ users.0.name }}', { users: [{ name: 'a' }] }, 'a'],
    ['---\n{% if foo %}\nbar\n{% end %}\n---\n', { foo: 'x' }, '---\nbar\n---\n'],
    ['foo \\\nbar', {}, 'foo bar'],
    ['{% each list %}{{ it }},{% end %}', { list: [1, 'x', true, null, 0] }, '1,x,true,,0,'],
    ['{% if list %}some{% else %}none{% end %}', { list: [] }, 'none'],
    ['{% if zero %}some{% else %}none{% end %}', { zero: 0 }, 'some'],
    ['{% each list %}{{ outer }}{% end %}', { outer: 'x', list: [{}] }, ''],
    ['{% each trailers %}{{ it.0 }}={{ it.1 }};{% end %}', { trailers: { A: '1', B: '2' } }, 'A=1;B=2;'],
    ['{{ trailers.Signed-off-by }}', { trailers: { 'Signed-off-by': 'A' } }, 'A'],
    [
      '{{ absent.deep.0.down }}{{ list.length }}{{ x.constructor }}{{ x.__proto__ }}',
      { list: [1], x: {} },
      '',
    ],
    ['{ foo } % } {x} \\n \\\\', {}, '{ foo } % } {x} \\n \\\\'],
    ['{% each a %}{% end %}{%if a%}\n\nx{%end%}', { a: 'text' }, '\nx'],
    ['{{\n a.b\t}}', { a: { b: 'c' } }, 'c'],
  ])('%j', (template, data, text) => {
    expect(render(template, data)).toBe(text);
  });
});

describe('a template is refused', () => {
  test.each([
    ['{{', /on line 1/],
    ['a\n{{ }}', /on line 2/],
    ['{{ a..b }}', /tag/],
    ['{{ a b }}', /tag/],
    ['{% if %}', /tag/],
    ['{% unless a %}', /tag/],
    ['{% if a %}', /statement without end/],
    ['{% end %}', /unexpected end/],
    ['{% else %}', /unexpected else/],
    ['{% each a %}{% else %}{% end %}', /unexpected else/],
    ['{% if a %}{% else %}{% else %}{% end %}', /unexpected else/],
    ['{% each a %}'.repeat(5), /4 loops/],
    ['{% if a %}'.repeat(40), /32 nested statements/],
    ['{{ 12345678901 }}', /tag/],
  ])('%j', (template, problem) => {
    expect(() => parseTemplate(template)).toThrow(problem);
    expect(() => parseTemplate(template)).toThrow(TemplateError);
  });

  test('for too much text or too many steps', () => {
    const deep = `${'{% each a %}'.repeat(4)}x${'{% end %}'.repeat(4)}`;
    let nested: Data = 'x';
    for (let n = 0; n < 4; n++) nested = Array<Data>(60).fill({ a: nested });
    const started = cpuMs();
    expect(() => render(deep, { a: nested })).toThrow(/takes too long/);
    const wide = { a: Array<Data>(3000).fill('y'.repeat(1000)) };
    expect(() => render('{% each a %}{{ it }}{% end %}', wide)).toThrow(/too much text/);
    expect(cpuMs() - started).toBeLessThan(2000);
  });
});

/** A template with what it must make of `DATA`, both built from the same parts. */
interface Case {
  readonly template: string;
  readonly text: string;
}
const DATA = { word: 'word', yes: true, no: false, empty: [], list: ['p', 'q'] };
const { tree } = fc.letrec<{ tree: Case; node: Case }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc
      .string({ unit: fc.constantFrom('a', ' ', '\n', '{x', '}', '%', '"', 'é'), maxLength: 5 })
      // A line feed right behind a statement is not the text's own.
      .map((text) => ({ template: `.${text}.`, text: `.${text}.` })),
    fc.constant({ template: '{{ word }}', text: 'word' }),
    fc.constant({ template: '{{ list.1 }}', text: 'q' }),
    fc.constant({ template: '\\\n', text: '' }),
    fc.constant({ template: '{% each list %}\n<{{ it }}>{% end %}', text: '<p><q>' }),
    fc
      .tuple(fc.constantFrom('yes', 'no', 'empty', 'list', 'nothing'), tie('tree'), tie('tree'), fc.boolean())
      .map(([name, a, b, newline]) => ({
        template: `{% if ${name} %}${newline ? '\n' : ''}${a.template}{% else %}${b.template}{% end %}`,
        text: name === 'yes' || name === 'list' ? a.text : b.text,
      })),
  ) as fc.Arbitrary<Case>,
  tree: fc.array(tie('node'), { maxLength: 4 }).map((parts) => ({
    template: parts.map((part) => part.template).join(''),
    text: parts.map((part) => part.text).join(''),
  })),
}));

test('a template made of parts renders the texts of its parts', () => {
  fc.assert(
    fc.property(tree, ({ template, text }) => {
      expect(render(template, DATA)).toBe(text);
    }),
    { numRuns: 500 },
  );
});

test('any text is a template or refused as invalid', () => {
  const unit = fc.constantFrom(
    '{{',
    '}}',
    '{%',
    '%}',
    ' ',
    '\n',
    '\\',
    'if',
    'each',
    'else',
    'end',
    'it',
    'a.0',
    '.',
    '{',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 30 }), (template) => {
      try {
        expect(typeof render(template, { it: 1, a: ['x'] })).toBe('string');
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 2000 },
  );
});
