import { fieldValue, Html, html, type Part } from '../html.ts';
import type { IconName } from './icon-shapes.ts';
import { icon } from './icons.ts';

export type Attributes = Record<string, string | number | boolean | undefined>;

/** Renders each attribute as ` name="value"`. True gives a bare name; false and undefined are left out. */
export function attributes(given: Attributes): Html {
  const parts = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [` ${name}`] : [html` ${new Html(name)}="${String(value)}"`.markup];
  });
  return new Html(parts.join(''));
}

export interface ButtonLook {
  /** `primary` at most once per page; `quiet` has no frame until hovered. */
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  isSmall?: boolean;
  /** Such as `data-copy`, `name`, `value`, `type`, `popovertarget`, `hidden`. */
  attributes?: Attributes;
}

function look({ kind = 'secondary', isSmall }: ButtonLook, more = ''): string {
  return `button ${kind}${isSmall ? ' small' : ''}${more}`;
}

/** Submits its form, unless `attributes.type` says otherwise. */
export function button(label: string, options: ButtonLook = {}): Html {
  return html`<button class="${look(options)}"${attributes(options.attributes ?? {})}>${options.icon && icon(options.icon)}<span>${label}</span></button>`;
}

/** A link that looks like a button. */
export function linkButton(href: string, label: string, options: ButtonLook = {}): Html {
  return html`<a class="${look(options)}" href="${href}"${attributes(options.attributes ?? {})}>${options.icon && icon(options.icon)}<span>${label}</span></a>`;
}

/** Only an icon; the label is its name for screen readers and on hover. */
export function iconButton(name: IconName, label: string, options: Omit<ButtonLook, 'icon'> = {}): Html {
  return html`<button class="${look({ kind: 'quiet', ...options }, ' icon-only')}" title="${label}" aria-label="${label}"${attributes(options.attributes ?? {})}>${icon(name)}</button>`;
}

interface Labelled {
  label: string;
  name: string;
  /** Shows the label to screen readers only; the placeholder must then say the same. */
  hidesLabel?: boolean;
  hint?: string;
  attributes?: Attributes;
}

export interface FieldOptions extends Labelled {
  type?: 'text' | 'search' | 'password' | 'url' | 'number' | 'date';
  value?: string;
  placeholder?: string;
  isRequired?: boolean;
  icon?: IconName;
}

/** A text field. Its value is unaltered, control characters included. */
export function field(options: FieldOptions): Html {
  const { name, type = 'text', value = '', placeholder, isRequired } = options;
  const input = html`<input type="${type}" name="${name}" value="${fieldValue(value)}"${described(options, { placeholder, required: isRequired })}>`;
  return labelled(options, options.icon ? html`<span class="with-icon">${icon(options.icon)}${input}</span>` : input);
}

/** A text area. HTML drops a line break right after the tag, so we add one. */
export function textArea({ rows = 10, value = '', ...options }: Labelled & { rows?: number; value?: string }): Html {
  return labelled(
    options,
    html`<textarea name="${options.name}" rows="${rows}"${described(options, { required: true })}>\n${fieldValue(value)}</textarea>`,
  );
}

export interface Option {
  value: string;
  label?: string;
  count?: number;
}

/** A dropdown. A selected value that is not among the options is added. `group`: a heading above the options. */
export function select({
  options,
  value = '',
  all,
  group,
  ...rest
}: Labelled & { options: readonly Option[]; value?: string; all?: string; group?: string | undefined }): Html {
  const known = value === '' || options.some((each) => each.value === value) ? options : [{ value }, ...options];
  const shown = known.map(
    (each) =>
      html`<option value="${fieldValue(each.value)}"${each.value === value && new Html(' selected')}>${each.label ?? each.value}${each.count !== undefined && ` (${each.count})`}</option>`,
  );
  return labelled(
    rest,
    html`<span class="select"><select name="${rest.name}"${described(rest)}>${all !== undefined && html`<option value="">${all}</option>`}${group === undefined ? shown : html`<optgroup label="${group}">${shown}</optgroup>`}</select>${icon('chevron-down')}</span>`,
  );
}

export function checkbox(label: Part, name: string, options: { isChecked?: boolean; value?: string } = {}): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${options.value ?? '1'}"${options.isChecked && new Html(' checked')}><span>${label}</span></label>`;
}

function labelled(options: Labelled, control: Html): Html {
  const { label, hidesLabel, hint } = options;
  return html`<div class="field"><label><span class="${hidesLabel ? 'visually-hidden' : 'label'}">${label}</span>${control}</label>${hint !== undefined && html`<span class="hint" id="${hintId(options)}">${hint}</span>`}</div>`;
}

/** The hint describes the control, and is not part of its name. */
function described(options: Labelled, more: Attributes = {}): Html {
  const by = options.hint === undefined ? {} : { 'aria-describedby': hintId(options) };
  return attributes({ ...more, ...by, ...options.attributes });
}

function hintId({ name }: Labelled): string {
  return `hint-${name}`;
}

/** A field with comma-separated tags, and a hidden one with the tags before editing. */
export function tagFields(tags: readonly string[]): Html {
  const value = tags.join(', ');
  return html`${field({ label: 'Tags', name: 'tags', value, placeholder: 'Separate with commas' })}<input type="hidden" name="before" value="${fieldValue(value)}">`;
}

/** A form that changes something. Offer it only if the tool for it exists (`tools.has`). */
export function changeForm(action: string, label: string, fields: Html = html``, options: ButtonLook = {}): Html {
  return html`<form class="change" method="post" action="${action}">${fields}${button(label, { kind: 'primary', ...options })}</form>`;
}

/** A button that opens a popup with a form or a part of one. Works without script. The id is unique on the page. */
export function popupButton(options: {
  id: string;
  label: string;
  title: string;
  body: Html;
  /** A large popup, for editing a text. */
  isLarge?: boolean;
  look?: ButtonLook;
}): Html {
  const { id, label, title, body, isLarge } = options;
  return html`${button(label, { ...options.look, attributes: { type: 'button', popovertarget: id } })}
<div popover id="${id}" class="popup${isLarge && ' large'}" role="dialog" aria-label="${title}"><p class="popup-title">${title}</p>${body}</div>`;
}

/** A hidden form value, unaltered. */
export function hidden(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${fieldValue(String(value))}">`;
}

/** A checkbox that selects a row of a table in a form. */
export function selectRow(name: string, value: string, label: string): Html {
  return html`<input type="checkbox" name="${name}" value="${value}" aria-label="${label}" data-select>`;
}

/** A checkbox for the column's head that selects all rows. Needs the script. */
export function selectAll(label: string): Html {
  return html`<input type="checkbox" aria-label="${label}" title="${label}" data-select-all hidden>`;
}

/** A button that asks before its form is sent. Works without script. The id is unique on the page. */
export function confirmButton(options: {
  id: string;
  label: string;
  question: string;
  detail?: string;
  action: string;
  fields?: Html;
  look?: ButtonLook;
}): Html {
  const { id, label, question, detail, action, fields } = options;
  return html`${button(label, { ...options.look, attributes: { type: 'button', popovertarget: id } })}
<div popover id="${id}" class="popup" role="dialog" aria-label="${question}"><p class="popup-title">${question}</p>${detail !== undefined && html`<p>${detail}</p>`}
<form class="row end" method="post" action="${action}">${fields}${button('Cancel', { attributes: { type: 'button', popovertarget: id, popovertargetaction: 'hide' } })}${button(label, { kind: 'danger' })}</form></div>`;
}
