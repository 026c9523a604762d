/** The Markdown parser as configured here: CommonMark with GitHub's tables, strikethrough, autolinks and task lists. */
import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { withEmoji } from './emoji.ts';

/** What a rendering needs to know; the `env` of the parser. */
export interface ReferencesToLink {
  /** Returns the index of the link for a text or URL, if a reference of this name is to be linked. */
  readonly linksOf: (
    text: string,
  ) => readonly { readonly index: number; readonly source: string; readonly link: number }[];
  readonly linkOf: (url: string) => number | undefined;
}

/** Sixteen lists or thirty quotes in each other; deeper ones are text. */
const MAX_NESTING = 32;

export const parser = new MarkdownIt({ html: true, linkify: true })
  .use(footnotes)
  .disable('footnote_inline')
  .set({ maxNesting: MAX_NESTING });
// Names of files (`README.md`) look like names of hosts.
parser.linkify.set({ fuzzyLink: false });

parser.core.ruler.after('inline', 'task_list', taskLists);
parser.core.ruler.after('inline', 'alignment', alignment);
parser.core.ruler.after('linkify', 'reference', references);
parser.core.ruler.after('reference', 'emoji', emoji);
/** Stands for a link in the HTML before it is sanitized: the parser replaces NUL in the source, so nobody can write it. */
parser.renderer.rules['reference'] = (tokens, i) => `\0${tokens[i]!.meta!['link'] as number}\0`;
parser.renderer.rules['s_open'] = () => '<del>';
parser.renderer.rules['s_close'] = () => '</del>';
parser.renderer.rules['footnote_caption'] = (tokens, i) => {
  const { id, subId } = tokens[i]!.meta as { id: number; subId: number };
  return subId > 0 ? `${id + 1}:${subId}` : String(id + 1);
};

const TASK = /^\[([ xX])\](?=\s)/;

/** `- [ ] task` and `- [x] task`. */
function taskLists({ tokens, Token }: StateCore): void {
  const lists: Token[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') lists.push(token);
    else if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') lists.pop();
    if (token.type !== 'inline' || tokens[i - 1]?.type !== 'paragraph_open') continue;
    const item = tokens[i - 2];
    const [first] = token.children ?? [];
    const task = first?.type === 'text' ? TASK.exec(first.content) : null;
    if (item?.type !== 'list_item_open' || task === null) continue;
    first!.content = first!.content.slice(task[0].length);
    const box = new Token('html_inline', '', 0);
    box.content = `<input type="checkbox" class="task-list-item-checkbox"${task[1] === ' ' ? '' : ' checked'} disabled>`;
    token.children!.unshift(box);
    item.attrSet('class', 'task-list-item');
    lists.at(-1)?.attrSet('class', 'task-list');
  }
}

/** The alignment of a column as an attribute: styles are removed. */
function alignment({ tokens }: StateCore): void {
  for (const token of tokens) {
    const style = token.attrGet('style');
    if (style === null) continue;
    token.attrs = token.attrs!.filter(([name]) => name !== 'style');
    const align = /^text-align:(left|center|right)$/.exec(String(style))?.[1];
    if (align !== undefined) token.attrSet('align', align);
  }
}

/** `:tada:`, also in the text of links, but not in URLs. */
function emoji({ tokens }: StateCore): void {
  for (const { children } of tokens) {
    let inUrl = false;
    for (const token of children ?? []) {
      if (token.type === 'link_open') inUrl = token.info === 'auto';
      else if (token.type === 'link_close') inUrl = false;
      else if (token.type === 'text' && !inUrl) token.content = withEmoji(token.content);
    }
  }
}

/** Elements of HTML whose text contains no references. */
const OPENS = /^<(a|code|pre)\b/i;
const CLOSES = /^<\/(a|code|pre)\b/i;

/** Puts tokens in the place of references, and of links that are nothing but the URL of one. */
function references({ tokens, Token, env }: StateCore): void {
  const { linksOf, linkOf } = env as Partial<ReferencesToLink>;
  if (linksOf === undefined || linkOf === undefined) return;
  const asToken = (link: number) => Object.assign(new Token('reference', '', 0), { meta: { link } });
  for (const { type, children } of tokens) {
    if (type !== 'inline' || children === null) continue;
    const linked: Token[] = [];
    let inside = 0;
    for (let i = 0; i < children.length; i++) {
      const token = children[i]!;
      const whole =
        token.type === 'link_open' && token.info === 'auto'
          ? linkOf(String(token.attrGet('href')))
          : undefined;
      if (inside === 0 && whole !== undefined && children[i + 2]?.type === 'link_close') {
        linked.push(asToken(whole));
        i += 2;
        continue;
      }
      if (token.type === 'link_open' || (token.type === 'html_inline' && OPENS.test(token.content))) inside++;
      else if (token.type === 'link_close' || (token.type === 'html_inline' && CLOSES.test(token.content)))
        inside--;
      if (token.type !== 'text' || inside > 0) {
        linked.push(token);
        continue;
      }
      let from = 0;
      const text = (to?: number) => {
        if (to === from) return;
        linked.push(Object.assign(new Token('text', '', 0), { content: token.content.slice(from, to) }));
      };
      for (const { index, source, link } of linksOf(token.content)) {
        text(index);
        linked.push(asToken(link));
        from = index + source.length;
      }
      if (from === 0) linked.push(token);
      else text();
    }
    children.splice(0, children.length, ...linked);
  }
}
