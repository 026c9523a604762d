import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, test } from 'vitest';
import { toHtml } from '../../../lib/domain/markdown/html.ts';
import { rendered } from '../../../lib/domain/markdown/render.ts';

const baseUrl = 'https://git.example.com';

/** Ways to run a script that are known from the lists of attacks on sanitizers, and some on Markdown. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '<ScRiPt src=//x.example/a.js></sCrIpT >',
  '<script/x>alert(1)</script\n>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<<script>alert(1);//<</script>',
  '<script\0>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="x" onerror="alert(1)"',
  '<img/src=x/onerror=alert(1)>',
  '<img """><script>alert(1)</script>">',
  '<img src=javascript:alert(1)>',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<math href="javascript:alert(1)">x</math>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object><embed src="javascript:alert(1)">',
  '<body onload=alert(1)>',
  '<base href="javascript:alert(1)//">',
  '<link rel=stylesheet href="javascript:alert(1)">',
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<style>@import "javascript:alert(1)"; body{background:url(javascript:alert(1))}</style>',
  '<div style="background:url(javascript:alert(1))">x</div>',
  '<div style="width: expression(alert(1))">x</div>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href=" &#14; javascript:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<a href="java&#x0A;script:alert(1)">x</a>',
  '<a href="&#106;&#97;&#118;&#97;script:alert(1)">x</a>',
  '<a href="javascript&colon;alert(1)">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==">x</a>',
  '<a href="//evil.example/" onclick="alert(1)" onmouseover=alert(1)>x</a>',
  '<form action="javascript:alert(1)"><button>x</button></form>',
  '<button formaction="javascript:alert(1)">x</button>',
  '<input type="image" src=x onerror=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<details open ontoggle=alert(1)><summary>x</summary></details>',
  '<video><source onerror=alert(1)></video><audio src=x onerror=alert(1)>',
  '<video poster=javascript:alert(1)></video>',
  '<marquee onstart=alert(1)>x</marquee>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<textarea><img title="</textarea><img src=x onerror=alert(1)>"></textarea>',
  '<title><img title="</title><img src=x onerror=alert(1)>"></title>',
  '<xmp><img title="</xmp><img src=x onerror=alert(1)>"></xmp>',
  '<template><img src=x onerror=alert(1)></template>',
  '<select><option><img src=x onerror=alert(1)></select>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<?xml version="1.0"?><img src=x onerror=alert(1)>',
  '<p id="location" class="modal">x</p><a id=defaultView name=body>x</a>',
  '[x](javascript:alert(1))',
  '[x](<javascript:alert(1)>)',
  '[x](JAVASCRIPT:alert(1) "t")',
  '[x](java&#115;cript:alert(1))',
  '[x](&#x6A;avascript:alert(1))',
  '[x](javascript&#58;alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:alert(1))',
  '[x](  javascript:alert(1))',
  '[x]: javascript:alert(1)\n\n[x]',
  '<javascript:alert(1)>',
  '![x](javascript:alert(1))',
  '![x"onerror="alert(1)](x)',
  '![x](x"onerror="alert(1))',
  '[x](http://a" onclick="alert(1))',
  '[x](http://a "x" onclick="alert(1)")',
  '``` x" onclick="alert(1)\na\n```',
  '```<script>\na\n```',
  '[^x]\n\n[^x]: <script>alert(1)</script>',
  '[^"onclick="alert(1)]\n\n[^"onclick="alert(1)]: x',
  '|<script>|\n|-|\n|<img src=x onerror=alert(1)>|',
  '- [ ] <input onfocus=alert(1) autofocus>',
  '# <img src=x onerror=alert(1)>',
  'http://a.example/<script>alert(1)</script>',
  'http://a.example/"onmouseover="alert(1)',
  '\0 0\0<b\0 onclick=alert(1)>',
];

const SCHEME = /^[a-z][a-z0-9+.-]*(?=:)/i;
const SCHEMES = new Set(['http', 'https', 'mailto', 'ftp', 'irc', 'ircs', 'xmpp', 'tel', 'git', 'ssh']);
const RUNS = new Set([
  ...[
    'script',
    'style',
    'iframe',
    'object',
    'embed',
    'svg',
    'math',
    'base',
    'link',
    'meta',
    'form',
    'button',
  ],
  ...['template', 'textarea', 'select', 'noscript', 'title', 'xmp', 'body', 'video', 'audio', 'source'],
]);

/** What of some HTML could run or act on the page around it. */
function activeIn(html: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (RUNS.has(tag)) found.push(`<${tag}>`);
      for (const [name, value] of Object.entries(attributes)) {
        if (/^on|^style$|^srcdoc$|^formaction$|^action$|^name$|^xlink|^srcset$|^data$/.test(name))
          found.push(name);
        if (name === 'id' && !/^fn(ref)?\d/.test(value)) found.push(`id ${value}`);
        // As a browser reads a URL: without control characters and white space around.
        const url = value.replace(/[\t\n\r]|^[\0- ]+/g, '');
        const scheme = SCHEME.exec(url)?.[0];
        if (name !== 'href' && name !== 'src') continue;
        if (url.startsWith('//') || (scheme !== undefined && !SCHEMES.has(scheme.toLowerCase())))
          found.push(url);
      }
    },
    oncomment: (text) => found.push(text),
    onprocessinginstruction: (name) => found.push(name),
  });
  parser.end(html);
  return found;
}

test('the check of this file finds what is active', () => {
  expect(activeIn('<script>a</script><a href="java\tscript:x" onclick=x id=a>')).toHaveLength(4);
});

test.each(ATTACKS)('nothing of %j runs', async (text) => {
  expect(activeIn(await rendered(text, { baseUrl }))).toEqual([]);
  expect(activeIn(toHtml(text, { baseUrl, inline: true }))).toEqual([]);
  expect(activeIn(toHtml(`> - *${text}*\n\n${text}`, { baseUrl }))).toEqual([]);
});

test('nothing runs of pieces of attacks in any order, and the result survives a second rendering', () => {
  const piece = fc.constantFrom(
    ...['<', '>', '"', "'", '=', '/', ' ', '\n', '\n\n', '`', '*', '[', ']', '(', ')', '!', '&#', ';', '\0'],
    ...[
      '<script>',
      '</script>',
      '<a href=',
      'javascript:',
      'onclick=',
      '<img src=',
      '<style>',
      '<svg',
      '<!--',
      '-->',
    ],
    ...['<math>', '<details>', 'x', '&colon;', '&Tab;', '<textarea>', '<title>', 'data:', '//x'],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const html = toHtml(pieces.join(''), { baseUrl });
      expect(activeIn(html)).toEqual([]);
      expect(activeIn(toHtml(html, { baseUrl }))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

describe('what may stay', () => {
  test.each([
    [
      '<details><summary>More</summary>\n\n*x*\n\n</details>',
      '<details><summary>More</summary>\n<p><em>x</em></p>\n</details>',
    ],
    ['H<sub>2</sub>O <kbd>a</kbd>', '<p>H<sub>2</sub>O <kbd>a</kbd></p>\n'],
    ['<img src="a.png" width="20" alt="x">', '<img src="a.png" width="20" alt="x" />'],
    ['```ruby\na\n```', '<pre><code class="language-ruby">a\n</code></pre>\n'],
    [
      '[a](/b) [c](https://d.example) [e](https://git.example.com/f)',
      '<p><a href="/b">a</a> <a href="https://d.example" rel="nofollow noreferrer noopener" target="_blank">c</a> <a href="https://git.example.com/f">e</a></p>\n',
    ],
    ['<div class="modal" id="x">a</div>', '<div>a</div>'],
  ])('%j', (text, html) => {
    expect(toHtml(text, { baseUrl })).toBe(html);
  });
});
