/** Every screen and state of the window: the story it is in, what is done there, how wide it is seen. */
import { keeps, read, type Screen, screen } from './screen';
import {
  click,
  clickAt,
  clickOn,
  drawer,
  menuAt,
  press,
  see,
  seeAt,
  show,
  type Step,
  write,
} from './steps';

const review = [clickOn('review-open'), see('review-apply')];
const settings = [...press('Control+,'), see('settings')];
const part = (name: string): Step[] => [...settings, clickAt(`[data-section=${name}]`)];
const changes = [drawer, clickOn('open-changes'), see('changes')];
const search = [...press('Control+Shift+f'), see('search-field')];
const heating = [click('^House.Heating$'), seeAt('.margin-sign')];
const diary = [...press('Control+p'), write('2025-11'), ...press('Enter'), seeAt('.kept')];
const privateName = [
  ...[clickOn('composer'), write('As in @2025-11'), seeAt('[role=option]')],
  ...[...press('Enter'), seeAt('dialog[open]')],
];
const saving = [click('^Save as note'), see('save-answer')];
const pastedKey = [
  click('^Use an API key'),
  clickAt('[type=password]'),
  write('a key'),
  ...press('Enter'),
];
const searching = [drawer, clickOn('conversation-search-field')];
const mentioning = [
  ...[clickOn('composer'), write('@house'), seeAt('[role=option]'), ...press('Enter')],
  ...[write(': is the offer fair, by @he'), seeAt('[role=option]')],
];
const book = '[data-row=books]';
const bookMenu = [drawer, menuAt(book)];

const chat: readonly Screen[] = [
  read(
    screen('chat', 'chat', [], 'narrow', 'small'),
    ...['^navigation', '^button Groceries for Sunday', '^main', '^heading Groceries for Sunday'],
    ...['^log ', 'Marta and Luca come', '^button Read 4 notes', '^link Luca Ferri', '^link Pantry'],
    ...['^(textbox|combobox) Message', '^status'],
  ),
  screen('chat-open', 'chat', [click('^Read 4 notes')]),
  screen('chat-tool', 'chat', [click('^Read 4 notes'), click('^Tool call details')], 'small'),
  screen('chat-note', 'chat', [click('^Pantry'), see('note-pane')], 'narrow'),
  screen('chat-note-gone', 'chat', [click('^Luca Ferri'), see('note-pane')]),
  screen('chat-menu', 'chat', [clickAt('.menu-button')], 'small'),
  screen('chat-drawer', 'question', [drawer], 'narrow', 'small'),
  screen('long', 'long-chat', [click('^Couldn’t edit'), show('.me')], 'small'),
  screen('link', 'long-chat', [click('example.org')], 'small'),
  screen('context', 'full', [see('context-meter')], 'narrow'),
  screen('context-parts', 'full', [clickAt('[data-testid=context-meter] summary')], 'small'),
  screen('context-working', 'full-working', [clickAt('[data-testid=context-meter] summary')]),
  screen('summed', 'summed', [clickAt('summary')], 'small'),
  screen('answer-saving', 'search', saving, 'small'),
  screen(
    'answer-taken',
    'search',
    [...saving, write('House/Heating'), ...press('Enter'), seeAt('[role=alert]', 'Heating')],
    'small',
  ),
  screen('answer-saved', 'search', [...saving, ...press('Enter'), see('kept-notice')], 'small'),
  read(
    screen('question', 'question', [], 'small'),
    ...[
      '^log ',
      '^heading ',
      '^button Friday 14:25',
      '^button Leave the way',
      '^(textbox|combobox) ',
    ],
  ),
  screen('held', 'held', [], 'small'),
  screen('regenerated', 'regenerated', [click('^Cost', -1)], 'small'),
  screen('regenerated-editing', 'regenerated', [click('^Edit$', -1)], 'small'),
  screen('queue', 'queue', [], 'small'),
  screen('queue-editing', 'queue', [click('^Edit$', -1)], 'small'),
  screen('commands', 'commands', [], 'small'),
  screen('commands-results', 'commands', [show('[data-testid=command-result]')], 'small'),
  screen('offered', 'offered', [], 'small'),
  screen('paused', 'paused', [], 'small'),
  screen('failed', 'failed'),
  screen('retired', 'retired'),
  screen('interrupted', 'interrupted', [], 'small'),
  screen('limited', 'limited'),
  screen('over', 'over', [], 'narrow'),
  screen('key-warning', 'chat', [
    clickOn('composer'),
    write('My key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789'),
  ]),
  screen('refused', 'refused', [
    clickOn('composer'),
    write('What is in the pantry?'),
    ...press('Enter'),
    see('problem'),
  ]),
  screen('settings-cut-off', 'settings-cut-off', [see('settings-trouble')], 'narrow', 'small'),
  screen('settings-defaults', 'settings-cut-off', [
    click('^Use default settings'),
    seeAt('dialog'),
  ]),
  screen('empty', 'empty-vault', [], 'small'),
  screen('closing', 'closing', [seeAt('dialog')], 'small'),
];

const list: readonly Screen[] = [
  screen('list-menu', 'chat', bookMenu, 'small'),
  screen('list-archive-empty', 'chat', [drawer, clickOn('open-archive'), see('archive-empty')]),
  screen('list-archive', 'archived', [drawer, clickOn('open-archive'), see('leave-archive')]),
  screen('list-archived', 'chat', [...bookMenu, click('^Archive'), see('kept-notice')], 'small'),
  screen('list-deleted', 'chat', [...bookMenu, click('^Delete'), see('kept-notice')]),
  screen(
    'list-exported',
    'chat',
    [...bookMenu, click('^Export as M'), see('kept-notice')],
    'small',
  ),
  screen('list-rename', 'chat', [...bookMenu, click('^Rename'), see('conversation-name')]),
  screen(
    'conversation-search',
    'search',
    [...searching, write('boiler'), see('conversation-search-results', '\\S')],
    'small',
  ),
  screen('conversation-search-none', 'search', [
    ...searching,
    write('xyz'),
    seeAt('.none[role=status]', '\\w'),
  ]),
];

const reviews: readonly Screen[] = [
  screen('review-card', 'review'),
  screen('review', 'review', review, 'narrow', 'small'),
  screen('review-decided', 'review', [...review, ...press('a', 'r')]),
  screen(
    'review-editing',
    'review',
    [...review, ...press('j', 'e'), seeAt('textarea[aria-label="New lines"]')],
    'small',
  ),
  screen(
    'review-editing-last',
    'review',
    [...review, ...press('j', 'j', 'j', 'j', 'e'), seeAt('textarea[aria-label="New lines"]')],
    'narrow',
    'small',
  ),
  screen('equal', 'equal', review, 'narrow'),
  screen('sixty', 'sixty', review, 'narrow', 'small'),
  screen('sixty-decided', 'sixty', [
    ...review,
    ...press('a'),
    click('^Exclude Diary/2026-01-02'),
    ...press('j', 'a', 'r'),
  ]),
  screen('moves-card', 'moves', [], 'small'),
  screen('moves', 'moves', review, 'narrow', 'small'),
  screen(
    'moves-decided',
    'moves',
    [...review, click('^Accept all except deletions'), ...press('j', 'r', 'j', 'j', 'j')],
    'small',
  ),
];

const past: readonly Screen[] = [
  screen(
    'chat-undo',
    'changes',
    [see('turn-undo'), ...press('Shift+Tab', 'Control+z'), see('undo-notice')],
    'small',
  ),
  screen('changes', 'changes', changes, 'narrow', 'small'),
  screen(
    'changes-open',
    'changes',
    [...changes, click('^(Made 4 changes|Changed 4 notes)'), click('^Moved Minutes')],
    'small',
  ),
  screen(
    'changes-conflict',
    'changes',
    [...changes, clickOn('change-undo', 2), see('conflict')],
    'small',
  ),
  screen(
    'changes-unsure',
    'changes-unsure',
    [...changes, clickOn('change-undo', 2), see('conflict')],
    'small',
    'narrow',
  ),
  screen('changes-chat', 'changes', [
    click('^View changes'),
    seeAt('[data-testid=changes] *', 'mushrooms$'),
  ]),
  screen(
    'changes-since',
    'changes',
    [
      ...changes,
      click('^Added 3 lines'),
      click('^Changes since then'),
      seeAt('[data-testid=since] .hunk'),
    ],
    'narrow',
    'small',
  ),
  screen('changes-since-moved', 'changes', [
    ...changes,
    click('^Changed 2 notes'),
    click('^Changes since then', 0),
    click('^Changes since then', 1),
    seeAt('[data-testid=since] p', '\\.'),
  ]),
  screen('changes-empty', 'empty-vault', changes),
];

const looking: readonly Screen[] = [
  screen(
    'switcher',
    'search',
    [...press('Control+p'), see('switcher-field'), write('boi'), seeAt('[role=option]')],
    'small',
  ),
  screen('open-note', 'search', heating),
  screen('open-note-private', 'search', diary),
  screen('question-option', 'question', [clickOn('composer'), ...press('2'), seeAt('.chosen')]),
  screen('mention', 'search', mentioning, 'small'),
  screen('mention-private-list', 'search', privateName.slice(0, 3)),
  screen('mention-private', 'search', privateName, 'small'),
  screen(
    'mentioned',
    'search',
    [...mentioning, ...press('Enter', 'Enter'), seeAt('.me', 'fair')],
    'small',
  ),
  screen('palette', 'search', [...press('Control+k'), seeAt('[role=option]')], 'small'),
  screen(
    'palette-typed',
    'search',
    [...press('Control+k'), write('he'), seeAt('[role=option]')],
    'small',
  ),
  screen('shortcuts', 'search', [...press('Shift+Tab', '?'), see('shortcuts')], 'small'),
  screen('switcher-none', 'search', [
    ...press('Control+p'),
    see('switcher-field'),
    write('xyz'),
    see('switcher-none'),
  ]),
  screen(
    'search',
    'search',
    [
      ...search,
      write('expansion vessel'),
      seeAt('[role=option]'),
      ...press('ArrowDown', 'ArrowDown', 'ArrowDown'),
      see('search-preview'),
    ],
    'narrow',
    'small',
  ),
  screen('search-idle', 'search', search),
  screen('search-none', 'search', [...search, write('xyz'), see('search-summary', '\\S')]),
  screen('search-bad', 'search', [
    ...search,
    click('Regular expression'),
    clickOn('search-field'),
    write('(vessel'),
    see('search-problem'),
  ]),
  screen(
    'search-tags',
    'search',
    [...search, clickOn('search-tags'), see('search-summary', '\\w')],
    'small',
  ),
  screen('search-properties', 'search', [
    ...search,
    clickOn('search-properties'),
    seeAt('[role=option]'),
    ...press('Enter'),
    see('search-into'),
  ]),
  screen('search-broken', 'search', [...search, clickOn('search-broken'), seeAt('[role=option]')]),
  screen(
    'search-broken-notes',
    'search',
    [...search, clickOn('search-broken'), click('^Household contact\\b'), see('broken-link')],
    'narrow',
    'small',
  ),
  screen('search-tasks', 'search', [...search, clickOn('search-tasks'), seeAt('[role=option]')]),
  screen(
    'note-links',
    'search',
    [
      ...search,
      write('yearly'),
      seeAt('[role=option]'),
      ...press('Enter'),
      see('note-links'),
      show('[data-testid=note-links]'),
    ],
    'narrow',
  ),
  screen('note-marks', 'search', [...heating, see('note-pane')], 'narrow'),
  screen(
    'note-mark',
    'search',
    [...heating, clickAt('.margin-sign'), see('note-mark')],
    'narrow',
    'small',
  ),
  screen('answer-image', 'images', [seeAt('.says [data-image]')], 'small'),
  screen(
    'note-images',
    'images',
    [click('^Allotment$'), seeAt('[data-testid=note-pane] [data-image]')],
    'narrow',
    'small',
  ),
  screen('note-removed', 'removed', [click('^Pantry'), see('note-removed')]),
  screen('indexing', 'indexing', [...search, clickOn('search-tags'), see('search-summary', '\\w')]),
];

const around: readonly Screen[] = [
  screen('trouble', 'trouble', [], 'narrow', 'small'),
  screen('working', 'working', [see('work', '312')], 'narrow', 'small'),
  screen('vault-trouble', 'vault-trouble', [see('vault-trouble')], 'small'),
  screen('settings', 'trouble', settings, 'small', 'phone'),
  screen('settings-data', 'changes', [
    ...part('vault'),
    see('kept-conversations', '\\d'),
    show('[data-testid=kept-conversations]'),
  ]),
  screen(
    'settings-delete',
    'changes',
    [...part('vault'), see('kept-conversations', '\\d'), click('^Delete all'), seeAt('dialog')],
    'narrow',
    'small',
  ),
  screen(
    'settings-deleted',
    'chat',
    [
      ...part('vault'),
      see('kept-conversations', '\\d'),
      click('^Delete all'),
      click('^Delete conversations'),
      see('clearing-news', '\\d'),
      show('[data-testid=kept-conversations]'),
    ],
    'narrow',
    'small',
  ),
  screen('settings-history', 'changes', part('history'), 'small'),
  screen('settings-delete-history', 'changes', [
    ...part('history'),
    click('^Delete history'),
    seeAt('dialog'),
  ]),
  screen('settings-private', 'regenerated', part('private'), 'small'),
  screen('settings-answering', 'regenerated', part('answering'), 'small', 'phone'),
  screen(
    'settings-default',
    'search',
    [
      ...part('answering'),
      clickOn('organization-default'),
      show('[data-testid=organization-default]'),
    ],
    'narrow',
    'small',
  ),
  screen(
    'settings-models',
    'regenerated',
    [...part('answering'), clickAt('[data-field=model]'), seeAt('[role=option]')],
    'small',
    'phone',
  ),
  screen('settings-key', 'regenerated', [...part('answering'), click('^Replace')], 'small'),
  screen('settings-tested', 'regenerated', [
    ...part('answering'),
    click('^Test$'),
    seeAt('.outcome .row'),
  ]),
  screen(
    'settings-parameters',
    'regenerated',
    [...part('answering'), click('^Parameters for'), show('[id$=extra]')],
    'small',
  ),
  screen('settings-spending', 'regenerated', part('spending'), 'small', 'phone'),
  screen('settings-hub', 'trouble', part('hub'), 'small', 'phone'),
  screen(
    'settings-description',
    'regenerated',
    [...part('hub'), clickOn('description-write'), seeAt('.proposed'), show('.proposed')],
    'narrow',
    'small',
  ),
  screen('settings-describing', 'trouble', [
    ...part('hub'),
    clickOn('description-write'),
    show('[data-field=description]'),
  ]),
  screen('settings-undescribed', 'search', [...part('hub'), show('[data-field=description]')]),
  screen('settings-no-model', 'commands', [...part('hub'), show('[data-field=description]')]),
  screen('settings-general', 'trouble', part('general'), 'small', 'phone'),
  screen('first-run', 'first-run', [], 'small', 'phone'),
  keeps(
    screen('first-run-2', 'first-run', [], 'small', 'phone'),
    click('sample'),
    see('firstrun', '24'),
  ),
  keeps(
    screen(
      'first-run-key',
      'first-run',
      [click('sample'), see('firstrun', '24')],
      'small',
      'phone',
    ),
    ...pastedKey,
    see('key-news', 'works'),
  ),
  keeps(
    screen(
      'first-run-refused',
      'first-run-refused',
      [click('sample'), see('firstrun', '24')],
      'small',
      'phone',
    ),
    ...pastedKey,
    see('secret-failure', 'saved'),
    click('^Use Ollama'),
    click('^Use an API key'),
    click('^Continue without'),
    seeAt('.details > p', 'later'),
  ),
  screen('first-run-locked', 'keyring-locked', [click('sample'), see('first-keyring')], 'phone'),
  screen(
    'keyring-locked',
    'keyring-locked',
    [click('sample'), see('first-keyring'), click('^Start$'), see('keyring-notice')],
    'small',
  ),
  screen('keyring-settings', 'keyring-locked', [
    ...[click('sample'), see('first-keyring'), click('^Start$'), see('keyring-notice')],
    ...part('answering'),
  ]),
  screen(
    'keyring-unknown',
    'keyring-unknown',
    [click('sample'), see('firstrun', '24'), click('^Start$'), see('composer-keyring')],
    'small',
  ),
  screen('lost-vault', 'lost-vault', [], 'small'),
  screen('no-start', 'no-start', [], 'small'),
];

export const screens: readonly Screen[] = [
  ...chat,
  ...list,
  ...reviews,
  ...past,
  ...looking,
  ...around,
];
