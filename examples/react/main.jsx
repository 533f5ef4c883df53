import { GuestlistDashboard } from '@guestlist/elements/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const Page = () => {
  const [name, setName] = useState('Numbers');
  const [message, setMessage] = useState('');
  return (
    <>
      <h1>{name}</h1>
      <p id="message">{message}</p>
      <GuestlistDashboard
        tokenUrl={`/embed-token${window.location.search}`}
        onGuestlistLoaded={({ detail }) => setName(detail.name)}
        onGuestlistError={({ detail }) => detail.status === 403 && setMessage(detail.message)}
      />
    </>
  );
};

createRoot(document.querySelector('#root')).render(<Page />);
