import { describe, expect, test } from 'vitest';
import { AsciidocProcesses, renderedAsciidoc } from '../../../lib/domain/markdown/asciidoc.ts';

const options = { baseUrl: 'https://forge.example', projectUrl: 'https://forge.example/a/b' };
const html = (text: string, on?: AsciidocProcesses) => renderedAsciidoc(text, options, on);

describe('AsciiDoc', () => {
  test('becomes HTML: titles, lists, tables, code, links, pictures', async () => {
    const text = `= Manual\n\n== Parts\n\n* one\n* *two*\n\n[source,js]\n----\nlet a\n----\n\n|===\n|x |y\n|===\n\nhttps://example.org[there] image:/uploads/${'0'.repeat(32)}/p.png[A picture]`;
    const rendered = await html(text);
    expect(rendered).toContain('<h1>Manual</h1>');
    expect(rendered).toContain('<h2>Parts</h2>');
    expect(rendered).toContain('<strong>two</strong>');
    expect(rendered).toContain('<code class="language-js">let a</code>');
    expect(rendered).toMatch(/<td[^>]*><p>x<\/p><\/td>/);
    expect(rendered).toContain('href="https://example.org"');
    expect(rendered).toContain(`src="https://forge.example/a/b/uploads/${'0'.repeat(32)}/p.png"`);
  });

  test.each([
    ['a script', '++++\n<script>alert(1)</script>\n++++', /alert/],
    ['a script in a line', '+++<script>alert(1)</script>+++', /alert/],
    ['a link that runs', 'link:javascript:alert(1)[x]', /javascript/],
    ['an attribute of HTML', '+++<img src=x onerror=alert(1)>+++', /onerror/],
    ['a page in the page', 'video::x[youtube]', /iframe/],
  ])('has nothing that runs: %s', async (_what, text, without) => {
    expect(await html(`Before\n\n${text}`)).not.toMatch(without);
  });

  test('reads no file: includes are links, pictures are not put in', async () => {
    const rendered = await html(
      'include::/etc/passwd[]\n\n:data-uri:\n\nimage::/etc/passwd[]\n\n[stylesheet=/etc/passwd]\nx',
    );
    expect(rendered).not.toMatch(/root:|data:/);
  });

  test.each([
    ['more cells than memory holds', '|===\n1000000000*|x\n|==='],
    ['more columns', '[cols="100000000"]\n|===\n|x\n|==='],
    ['a row that spans a billion', '|===\n.1000000000+|x\n|===\n'],
    ['attributes that grow', `:a: ${'x'.repeat(4000)}\n\n${'{a}'.repeat(80_000)}`],
    ['a text beyond the limit', 'x '.repeat(200_000)],
  ])('that asks for %s does no harm', async (_what, text) => {
    const shortly = new AsciidocProcesses(4000);
    expect((await html(text, shortly)).length).toBeLessThan(5_000_000);
  });

  test('that takes too long is shown as written', async () => {
    expect(await html('* a & b', new AsciidocProcesses(1))).toBe('<pre>* a &amp; b</pre>');
  });
});
