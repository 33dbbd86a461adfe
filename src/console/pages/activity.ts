import type { Activity } from '../activity.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { time } from './parts.ts';
import { plot } from './plot.ts';

/** What clients called: how much over the last day, and the latest calls one by one. */
export function activityPage(activity: Activity, now: number): Page {
  const intervals = activity.intervals(now);
  const points = (value: (interval: (typeof intervals)[number]) => number) =>
    intervals.map((interval) => ({ at: interval.at, value: value(interval) }));
  return {
    title: 'Activity',
    body: html`<h1>Activity</h1>
<div id="activity" data-refresh="5000">
<div class="plots">
${plot(
  'Calls in ten minutes',
  points(({ calls }) => calls),
)}
${plot(
  'Failed calls in ten minutes',
  points(({ failures }) => failures),
)}
${plot(
  'Longest call, milliseconds',
  points(({ msMax }) => msMax),
)}
</div>
<h2>By tool</h2>
<table><thead><tr><th scope="col">Tool</th><th scope="col">Calls</th><th scope="col">Failed</th><th scope="col">Mean ms</th><th scope="col">Tokens</th></tr></thead>
<tbody>${activity.byTool().map(({ tool, calls, failures, msMean, tokens }) => html`<tr><td>${tool}</td><td>${calls}</td><td>${failures}</td><td>${msMean.toFixed(1)}</td><td>${tokens}</td></tr>`)}</tbody></table>
<h2>Latest calls</h2>
<table><thead><tr><th scope="col">Time</th><th scope="col">Tool</th><th scope="col">Client</th><th scope="col">ms</th><th scope="col">Tokens</th><th scope="col">Outcome</th></tr></thead>
<tbody>${activity.latest().map(({ at, tool, caller, ms, tokens, outcome }) => html`<tr tabindex="0"><td>${time(new Date(at).toISOString())}</td><td>${tool}</td><td>${caller}</td><td>${ms.toFixed(1)}</td><td>${tokens}</td><td class="state-${outcome === 'ok' ? 'good' : 'bad'}">${outcome}</td></tr>`)}</tbody></table>
</div>`,
  };
}
