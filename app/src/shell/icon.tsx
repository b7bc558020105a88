/** Line drawings of the app, in the colour of the text around them. Never alone: a label or an accessible name says the same. */
const DRAWINGS = {
  ask: 'M4 5h16v11H9l-5 4z M8 9.5h8 M8 12.5h5',
  live: 'M2.5 12C5 7.5 8 5.5 12 5.5s7 2 9.5 6.5c-2.5 4.5-5.5 6.5-9.5 6.5S5 16.5 2.5 12z M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  history: 'M12 4a8 8 0 1 1-7.5 5.2 M4 4v5h5 M12 8v4.5l3 2',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9z M4 7.5l8 4.5 8-4.5 M12 12v9',
  settings:
    'M4 7h9 M17 7h3 M4 17h3 M11 17h9 M15 4.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z M9 14.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z',
  send: 'M12 19V5 M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  microphone:
    'M12 3.5a2.8 2.8 0 0 0-2.8 2.8v5a2.8 2.8 0 0 0 5.6 0v-5A2.8 2.8 0 0 0 12 3.5z M6 11a6 6 0 0 0 12 0 M12 17v3.5',
  camera: 'M4 8h3.5L9 5.5h6L16.5 8H20v11H4z M12 10a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4z',
  picture: 'M4 5h16v14H4z M4 16l4.5-4.5 4 4 2.5-2.5 5 5 M15.5 8a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6z',
  copy: 'M9 9h10v11H9z M5 15V4h10v2',
  again: 'M19 12a7 7 0 1 1-2-5 M19.5 3.5V8H15',
  edit: 'M5 19l1-4L16 5l3 3L9 18z',
  delete: 'M5 7h14 M10 7V4.5h4V7 M7 7l1 13h8l1-13',
  close: 'M6 6l12 12 M18 6L6 18',
  download: 'M12 4v11 M7 10.5l5 5 5-5 M5 20h14',
  add: 'M12 5v14 M5 12h14',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12z M15 15l5 5',
  speaker: 'M4 10v4h3.5L12 18V6L7.5 10z M15.5 9a4 4 0 0 1 0 6 M18 6.5a8 8 0 0 1 0 11',
  torch: 'M13 3L6 13.5h5L10.5 21 18 10h-5.5z',
  info: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z M12 11v5 M12 7.8v.4',
  warning: 'M12 4.5L21 19.5H3z M12 10v4.5 M12 16.8v.4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  more: 'M5.5 12h.1 M12 12h.1 M18.5 12h.1',
} as const

export type IconName = keyof typeof DRAWINGS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={DRAWINGS[name]} />
    </svg>
  )
}
