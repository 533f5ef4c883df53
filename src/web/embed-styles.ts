import { css } from 'lit';

export const embedStyles = css`
  :host {
    container-type: inline-size;
  }
  .root {
    position: relative;
    min-height: 120px;
  }
  .waiting {
    height: 360px;
  }
  .content {
    transition: opacity 0.2s;
  }
  .content[inert] {
    opacity: 0.25;
    filter: grayscale(0.6);
  }
  .expired {
    position: absolute;
    z-index: 5;
    inset: 24px 0 auto;
    width: fit-content;
    max-width: calc(100% - 32px);
    margin: 0 auto;
    padding: 16px 24px;
    border: 1px solid var(--gl-border);
    border-radius: var(--gl-radius);
    background: var(--gl-raised);
    box-shadow: 0 12px 32px rgb(0 0 0 / 14%);
    text-align: center;
  }
  .expired p {
    margin: 0;
  }
  .expired strong {
    font-weight: 600;
  }
`;
