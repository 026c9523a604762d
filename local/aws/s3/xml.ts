/**
 * The subset of XML that S3 uses: elements and text, no attributes, no mixed content.
 */

/** Finished markup. Only `element` makes it, so that text cannot be mistaken for markup. */
export interface Markup {
  readonly markup: string;
}

export type Content = string | number | boolean | readonly Markup[];

export function element(name: string, content: Content): Markup {
  const inner = Array.isArray(content)
    ? (content as readonly Markup[]).map((part) => part.markup).join('')
    : escapeText(String(content));
  return { markup: `<${name}>${inner}</${name}>` };
}

/** A document. The root of an answer has S3's namespace, that of an error has none. */
export function xmlDocument(root: Markup, namespace?: string): string {
  const markup =
    namespace === undefined ? root.markup : root.markup.replace(/^<(\w+)>/, `<$1 xmlns="${namespace}">`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${markup}`;
}

export const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Writes control characters as references, as S3 does, although XML 1.0 allows few of them. */
function escapeText(text: string): string {
  return text
    .replace(/[&<>"]/g, (char) => ENTITIES[char]!)
    .replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`);
}

/** A parsed element. */
export interface XmlNode {
  name: string;
  text: string;
  children: XmlNode[];
}

/**
 * Reads a request document.
 * @throws SyntaxError when it is not well-formed
 */
export function parseXml(source: string): XmlNode {
  const root: XmlNode = { name: '', text: '', children: [] };
  const open: XmlNode[] = [root];
  const token =
    /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([^\s/>]+)[^>]*?(\/?)>|([^<]+)/gy;
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    if (match === null) throw new SyntaxError('not well-formed');
    const [, cdata, close, rawName, empty, text] = match;
    const current = open.at(-1)!;
    if (cdata !== undefined) current.text += cdata;
    else if (text !== undefined) current.text += unescapeText(text);
    else if (rawName !== undefined) {
      const name = rawName.replace(/^.*:/, '');
      if (close) {
        if (open.length < 2 || current.name !== name) throw new SyntaxError(`unexpected </${name}>`);
        open.pop();
      } else {
        const node: XmlNode = { name, text: '', children: [] };
        current.children.push(node);
        if (!empty) open.push(node);
      }
    }
  }
  const [document] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || !document) throw new SyntaxError('not one document');
  return document;
}

export const childrenNamed = (node: XmlNode, name: string): XmlNode[] =>
  node.children.filter((child) => child.name === name);

export const childText = (node: XmlNode, name: string): string | undefined =>
  node.children.find((child) => child.name === name)?.text;

function unescapeText(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number.parseInt(decimal, 10));
    return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name as string] ?? all;
  });
}
