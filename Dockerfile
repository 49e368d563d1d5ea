# docker build -t gym-memory . && docker run --rm -v "$PWD/results:/home/player/results" gym-memory demo
# EXTRAS chooses the backends: docker build --build-arg EXTRAS=textworld,llm,scienceworld ...
FROM python:3.11-slim

ARG EXTRAS=textworld,webshop,qa,llm,viewer
# ScienceWorld's engine is a Java program.
RUN case ",$EXTRAS," in *,scienceworld,*|*,all,*) apt-get update \
    && apt-get install -y --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/* ;; esac

COPY . /source
RUN pip install --no-cache-dir -c /source/constraints.txt "/source[$EXTRAS]" && rm -r /source

RUN useradd --create-home player
USER player
WORKDIR /home/player
ENV OMP_NUM_THREADS=1
ENTRYPOINT ["gym-memory"]
CMD ["--help"]
