'use client';
import { GuestlistDashboard } from '@guestlist/elements/react';
import { useState } from 'react';

/** Called in the browser, never on the server. */
const getToken = async () => {
  const answer = await fetch(`/embed-token${window.location.search}`, { method: 'POST' });
  return answer.json();
};

export const Numbers = () => {
  const [message, setMessage] = useState('');
  return (
    <>
      <p id="message">{message}</p>
      <GuestlistDashboard
        getToken={getToken}
        onGuestlistError={({ detail }) => detail.status === 403 && setMessage(detail.message)}
      />
    </>
  );
};
