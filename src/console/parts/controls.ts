import { fieldValue, Html, html, type Part } from '../html.ts';
import type { IconName } from './icon-shapes.ts';
import { icon } from './icons.ts';

export type Attributes = Record<string, string | number | boolean | undefined>;

/** Renders each attribute as ` name="value"`. True renders only the name; false and undefined render nothing. */
export function attributes(values: Attributes): Html {
  const parts = Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [` ${name}`] : [html` ${new Html(name)}="${String(value)}"`.markup];
  });
  return new Html(parts.join(''));
}

export interface ButtonStyle {
  /** Use `primary` at most once per page. `quiet` has no frame until the pointer is on it. */
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  isSmall?: boolean;
  /** More attributes, such as `data-copy`, `name`, `value`, `type`, `popovertarget` and `hidden`. */
  attributes?: Attributes;
}

function buttonClass({ kind = 'secondary', isSmall }: ButtonStyle, suffix = ''): string {
  return `button ${kind}${isSmall ? ' small' : ''}${suffix}`;
}

/** Renders a button. It submits its form, unless `attributes.type` says otherwise. */
export function button(label: string, options: ButtonStyle = {}): Html {
  return html`<button class="${buttonClass(options)}"${attributes(options.attributes ?? {})}>${options.icon && icon(options.icon)}<span>${label}</span></button>`;
}

/** Renders a link that looks like a button. */
export function linkButton(href: string, label: string, options: ButtonStyle = {}): Html {
  return html`<a class="${buttonClass(options)}" href="${href}"${attributes(options.attributes ?? {})}>${options.icon && icon(options.icon)}<span>${label}</span></a>`;
}

/** Renders a button that has only an icon. The label is shown on hover and read by screen readers. */
export function iconButton(name: IconName, label: string, options: Omit<ButtonStyle, 'icon'> = {}): Html {
  return html`<button class="${buttonClass({ kind: 'quiet', ...options }, ' icon-only')}" title="${label}" aria-label="${label}"${attributes(options.attributes ?? {})}>${icon(name)}</button>`;
}

interface Labelled {
  label: string;
  name: string;
  /** True if only screen readers get the label. The placeholder must then say the same. */
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

/** Renders a text field. Its value stays unchanged, including control characters. */
export function field(options: FieldOptions): Html {
  const { name, type = 'text', value = '', placeholder, isRequired } = options;
  const input = html`<input type="${type}" name="${name}" value="${fieldValue(value)}"${controlAttributes(options, { placeholder, required: isRequired })}>`;
  return labelled(options, options.icon ? html`<span class="with-icon">${icon(options.icon)}${input}</span>` : input);
}

/** Renders a text area. HTML ignores its first line break, so an extra one is added. */
export function textArea({ rows = 10, value = '', ...options }: Labelled & { rows?: number; value?: string }): Html {
  return labelled(
    options,
    html`<textarea name="${options.name}" rows="${rows}"${controlAttributes(options, { required: true })}>\n${fieldValue(value)}</textarea>`,
  );
}

export interface Option {
  value: string;
  label?: string;
  count?: number;
}

/** Renders a dropdown. If the selected value is not among the options, it is added. `group` is a heading above the options. */
export function select({
  options,
  value = '',
  all,
  group,
  ...labelOptions
}: Labelled & { options: readonly Option[]; value?: string; all?: string; group?: string | undefined }): Html {
  const allOptions = value === '' || options.some((each) => each.value === value) ? options : [{ value }, ...options];
  const items = allOptions.map(
    (each) =>
      html`<option value="${fieldValue(each.value)}"${each.value === value && new Html(' selected')}>${each.label ?? each.value}${each.count !== undefined && ` (${each.count})`}</option>`,
  );
  return labelled(
    labelOptions,
    html`<span class="select"><select name="${labelOptions.name}"${controlAttributes(labelOptions)}>${all !== undefined && html`<option value="">${all}</option>`}${group === undefined ? items : html`<optgroup label="${group}">${items}</optgroup>`}</select>${icon('chevron-down')}</span>`,
  );
}

export function checkbox(label: Part, name: string, options: { isChecked?: boolean; value?: string } = {}): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${options.value ?? '1'}"${options.isChecked && new Html(' checked')}><span>${label}</span></label>`;
}

function labelled(options: Labelled, control: Html): Html {
  const { label, hidesLabel, hint } = options;
  return html`<div class="field"><label><span class="${hidesLabel ? 'visually-hidden' : 'label'}">${label}</span>${control}</label>${hint !== undefined && html`<span class="hint" id="${hintId(options)}">${hint}</span>`}</div>`;
}

/** Renders the control's attributes. Screen readers read the hint as a description, not as part of the label. */
function controlAttributes(options: Labelled, more: Attributes = {}): Html {
  const description = options.hint === undefined ? {} : { 'aria-describedby': hintId(options) };
  return attributes({ ...more, ...description, ...options.attributes });
}

function hintId({ name }: Labelled): string {
  return `hint-${name}`;
}

/** Renders a field with comma-separated tags, and a hidden one with the tags before editing. */
export function tagFields(tags: readonly string[]): Html {
  const value = tags.join(', ');
  return html`${field({ label: 'Tags', name: 'tags', value, placeholder: 'Separate with commas' })}<input type="hidden" name="before" value="${fieldValue(value)}">`;
}

/** Renders a form that changes something. Use it only if the tool for the change exists (`tools.has`). */
export function changeForm(action: string, label: string, fields: Html = html``, options: ButtonStyle = {}): Html {
  return html`<form class="change" method="post" action="${action}">${fields}${button(label, { kind: 'primary', ...options })}</form>`;
}

/** Renders a button that opens a popup with a form or a part of one, even without script. The id must be unique on the page. */
export function popupButton(options: {
  id: string;
  label: string;
  title: string;
  body: Html;
  /** True for a large popup, in which a text is edited. */
  isLarge?: boolean;
  style?: ButtonStyle;
}): Html {
  const { id, label, title, body, isLarge } = options;
  return html`${button(label, { ...options.style, attributes: { type: 'button', popovertarget: id } })}
<div popover id="${id}" class="popup${isLarge && ' large'}" role="dialog" aria-label="${title}"><p class="popup-title">${title}</p>${body}</div>`;
}

/** Renders a hidden form field. Its value stays unchanged. */
export function hidden(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${fieldValue(String(value))}">`;
}

/** Renders a checkbox that selects a row of a table in a form. */
export function selectRow(name: string, value: string, label: string): Html {
  return html`<input type="checkbox" name="${name}" value="${value}" aria-label="${label}" data-select>`;
}

/** Renders a checkbox for the head of the column, which selects all rows. The script shows it. */
export function selectAll(label: string): Html {
  return html`<input type="checkbox" aria-label="${label}" title="${label}" data-select-all hidden>`;
}

/** Renders a button that asks before its form is sent, even without script. The id must be unique on the page. */
export function confirmButton(options: {
  id: string;
  label: string;
  question: string;
  detail?: string;
  action: string;
  fields?: Html;
  style?: ButtonStyle;
}): Html {
  const { id, label, question, detail, action, fields } = options;
  return html`${button(label, { ...options.style, attributes: { type: 'button', popovertarget: id } })}
<div popover id="${id}" class="popup" role="dialog" aria-label="${question}"><p class="popup-title">${question}</p>${detail !== undefined && html`<p>${detail}</p>`}
<form class="row end" method="post" action="${action}">${fields}${button('Cancel', { attributes: { type: 'button', popovertarget: id, popovertargetaction: 'hide' } })}${button(label, { kind: 'danger' })}</form></div>`;
}
